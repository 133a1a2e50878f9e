// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// kernels reports whether a call on the name of a spot is the kernel's to
// decide, from no more than a look at the folder: it lies in a place that was
// given a rule for all that the call asks, so whatever the name means there,
// the answer would be letKernel. Most calls are of this kind, and it spares
// them half of the looks.
//
// It is no grant, as letKernel is none: a mistake could only leave to the
// kernel what the broker would have served, or would have refused first.
func (t *task) kernels(s *spot) bool {
	folder := s.folder
	if folder.place != named || folder.stat.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return false
	}
	if s.on.asks == plan.Write {
		if t.b.land.pinned[t.b.land.spell(join(folder.name, s.last))] != nil {
			return false
		}
	}
	j, _ := t.b.land.judgeBy(folder.name, s.on.asks, func(name string) Inode {
		if name == folder.name {
			return Inode{uint64(folder.stat.Dev), folder.stat.Ino}
		}
		return t.b.land.identify(name)
	})
	return j == native && (s.on.how&bareName != 0 || plainAt(folder.fd, s.last))
}

// plainAt reports whether what stands under a name is what it is called: no
// symbolic link, which would lead elsewhere, and nothing that may be known by
// another name, which may be closed. Nothing at all is plain.
func plainAt(folder int, name string) bool {
	var st syscall.Stat_t
	switch err := sys.LstatAt(folder, name, &st); err {
	case nil:
		kind := st.Mode & syscall.S_IFMT
		return kind == syscall.S_IFDIR || kind == syscall.S_IFREG && st.Nlink == 1
	case syscall.ENOENT:
		return true
	}
	return false
}
