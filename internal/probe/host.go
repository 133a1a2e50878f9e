// SPDX-License-Identifier: Apache-2.0

package probe

// host is everything that the quick probe asks of the system, as functions,
// so that tests can answer for kernels that are not at hand. The functions
// return errors as package sys does: an *os.SyscallError or *os.PathError
// around a syscall.Errno.
type host struct {
	release        func() (string, error)
	landlockABI    func() (int, error)
	landlockErrata func() (uint32, error)
	filterFlags    func(flags uintptr) error // nil: the kernel knows them
	notifSizes     func() (NotifSizes, error)
	effectiveCaps  func() (uint64, error)
	readFile       func(path string) (string, error)
	exists         func(path string) error // nil: something stands under that name
	activeLSMs     func() ([]string, error)
	readWhole      func(path string) (string, error) // for files beyond 4 KiB
	makeGroup      func(dir string) error            // makes a control group and removes it
}
