// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// mostMounts bounds the mounts that are kept.
const mostMounts = 2048

// mountTable reads the mounts that the process sees in its root.
func (g *gatherer) mountTable() {
	b, cut, errno := sys.ReadFrom(g.p.dir, "mountinfo", mostLarge)
	if errno != 0 {
		g.unknown("mounts", errno, needsTrace)
		return
	}
	mounts, err := parseMountinfo(string(b))
	if err != nil && !cut {
		g.broken("mounts.rest", err)
	}
	g.mounts = map[uint64]Mount{}
	shown := make([]Mount, 0, len(mounts))
	for _, m := range mounts {
		g.mounts[uint64(m.ID)] = m
		shown = append(shown, m.shown())
	}
	g.c.Mounts = listOf(shown, mostMounts)
}

// mountAt says which mount an object is on.
func (g *gatherer) mountAt(o sys.Object, field string) *MountAt {
	m, ok := g.mounts[o.Mount]
	if !ok || o.Mount == 0 {
		g.because(field, "the mount is not in the process's table: the kernel does not number it, or it lies outside of its root", "")
		return nil
	}
	m = m.shown()
	return &MountAt{ID: m.ID, Point: m.Point, Type: m.Type, Options: m.Options, Super: m.Super,
		Top: o.Attributes&sys.AttrMountRoot != 0}
}

func closeFD(fd int) { _ = syscall.Close(fd) }
