// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// playScenario prepares this process and prints its report.
func playScenario(name string) error {
	kind, arg, _ := strings.Cut(name, "=")
	var err error
	switch kind {
	case "plain":
	case "filter":
		err = refuseLandlock(arg)
	case "layers":
		err = stackLayers(arg)
	case "listener":
		err = holdListener()
	case "no-user-namespaces":
		err = os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	case "no-proc":
		err = syscall.Mount("none", "/proc", "tmpfs", 0, "")
	default:
		err = fmt.Errorf("no scenario %q", name)
	}
	if err != nil {
		return fmt.Errorf("cannot prepare scenario %s: %w", name, err)
	}
	r, err := Full(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(struct {
		*Report
		Blockers []Blocker `json:"blockers"`
	}{r, r.Blockers()})
}

// refuseLandlock installs a filter on all threads which answers the three
// Landlock calls with an errno, or kills for them. Their numbers are the same
// on every architecture (asm-generic/unistd.h).
func refuseLandlock(how string) error {
	const (
		first, last    = 444, 446   // landlock_create_ruleset, landlock_restrict_self
		loadWord       = 0x20       // BPF_LD|BPF_W|BPF_ABS
		jumpAbove      = 0x25       // BPF_JMP|BPF_JGT|BPF_K
		jumpFrom       = 0x35       // BPF_JMP|BPF_JGE|BPF_K
		ret            = 0x06       // BPF_RET|BPF_K
		retKill        = 0x80000000 // SECCOMP_RET_KILL_PROCESS
		systemCallWord = 0          // offset of nr in struct seccomp_data
	)
	action := uint32(retKill)
	if how != "kill" {
		n, err := strconv.Atoi(how)
		if err != nil {
			return err
		}
		action = sys.SeccompRetErrno | uint32(n)
	}
	var program []byte
	for _, i := range []struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}{
		{loadWord, 0, 0, systemCallWord},
		{jumpFrom, 0, 2, first},
		{jumpAbove, 1, 0, last},
		{ret, 0, 0, action},
		{ret, 0, 0, sys.SeccompRetAllow},
	} {
		program = binary.NativeEndian.AppendUint16(program, i.code)
		program = binary.NativeEndian.AppendUint32(append(program, i.jt, i.jf), i.k)
	}
	if err := sys.SetNoNewPrivs(); err != nil {
		return err
	}
	_, err := sys.InstallFilter(program, sys.SeccompTsync)
	return err
}

// stackLayers puts this thread, from which all children come, into n domains
// that deny next to nothing.
func stackLayers(n string) error {
	layers, err := strconv.Atoi(n)
	for range layers {
		if err == nil {
			err = restrictSelf(sys.Ruleset{FS: uint64(FSMakeSock)}, 0)
		}
	}
	return err
}

// holdListener makes this process one that a supervisor listens to.
func holdListener() error {
	if err := sys.SetNoNewPrivs(); err != nil {
		return err
	}
	_, err := sys.InstallFilter(allowAll(), sys.SeccompNewListener)
	return err
}
