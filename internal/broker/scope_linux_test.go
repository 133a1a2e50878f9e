// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// TestScope lets the kernel decide over abstract sockets.
func TestScope(t *testing.T) {
	ruleset, err := sys.LandlockCreateRuleset(sys.Ruleset{Scoped: sys.ScopeAbstractUnix})
	if err != nil {
		needsKernel(t, err, 6, 12)
	}
	scope, err := NewScope(ruleset)
	_ = syscall.Close(ruleset)
	if err != nil {
		t.Fatal(err)
	}
	defer scope.Close()
	name := fmt.Sprintf("ambit-test-%d", os.Getpid())
	outside := listenUnix(t, "@"+name)
	f := makeFolders(t)
	t.Setenv(nestVariable, "1")
	s, listener := filtered(t, startBy(t, scope.Do, roleFiltered, nil, "calls"))
	o := f.options(t)
	o.Scope = scope
	b := serve(t, s, listener, o)
	unix := func() int { return s.socket(t, syscall.AF_UNIX, syscall.SOCK_STREAM) }

	inside := unix()
	addr := abstractAddress(name + "-inside")
	if o := s.call(t, syscall.SYS_BIND, inside, addr, len(addr)); o.Errno != 0 {
		t.Fatal(o)
	}
	if o := s.connect(t, unix(), addr); o.Errno != syscall.ECONNREFUSED {
		t.Errorf("nobody listens: %v", o)
	}
	if o := s.call(t, syscall.SYS_LISTEN, inside, 1); o.Errno != 0 {
		t.Fatal(o)
	}
	if o := s.connect(t, unix(), addr); o.Errno != 0 {
		t.Errorf("inside: %v", o)
	}
	if o := s.connect(t, unix(), abstractAddress(name)); o.Errno != syscall.EPERM {
		t.Errorf("outside: %v", o)
	}
	if n := outside.contacts(); n != 0 {
		t.Errorf("the outside server has %d contacts", n)
	}
	if list, _ := b.Denials(); len(list) != 1 || list[0].Named != "@"+name {
		t.Errorf("denials: %+v", list)
	}
}
