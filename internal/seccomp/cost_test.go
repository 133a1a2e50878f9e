// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// constant says whether a number's verdict needs no argument.
func constant(code []rawInstruction, arch, nr uint32) bool {
	allowed := constantAllow(code, arch, nr)
	if allowed {
		return true
	}
	// For what is refused the kernel does not ask; the same walk does.
	refused := slices.Clone(code)
	for i := range refused {
		if refused[i].Op == 0x06 {
			refused[i].K = retAllow
		}
	}
	return constantAllow(refused, arch, nr)
}

// TestConstantAllow holds the filter to what lets the kernel skip it: a call
// that is allowed whatever its arguments is decided without loading one.
func TestConstantAllow(t *testing.T) {
	for _, arch := range testArches {
		for _, c := range configs() {
			code := mustCompile(t, arch.name, c).Instructions()
			looked := restricted(t, c)
			for nr, name := range plainNames[arch.name] {
				if got := constantAllow(code, arch.audit, nr); got == looked[name] {
					t.Fatalf("%s %+v: %s is constantly allowed: %v, want %v", arch.name, c, name, got, !got)
				}
			}
		}
	}
}

// restricted names the calls that some rule does not allow.
func restricted(t *testing.T, c Config) map[string]bool {
	rules, err := Rules(c)
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]bool)
	for _, r := range rules {
		for _, name := range r.Calls {
			m[name] = m[name] || r.Verdict != Allow
		}
	}
	return m
}

// TestExecuted bounds how many instructions the calls cost that programs make
// most. The bounds are what the search achieves; raise one only with a reason.
// Those that are always allowed cost this once, when the filter is installed,
// on the kernels that skip the filter for them.
func TestExecuted(t *testing.T) {
	const always = 10
	terminal := [6]uint64{1, 0x5401} // TCGETS
	for _, test := range []struct {
		name  string
		args  [6]uint64
		bound int
	}{
		{"read", [6]uint64{}, 7}, {"write", [6]uint64{}, 7}, {"close", [6]uint64{}, 8},
		{"newfstatat", [6]uint64{}, 10}, {"fstat", [6]uint64{}, 7}, {"lseek", [6]uint64{}, 7},
		{"pread64", [6]uint64{}, 8}, {"writev", [6]uint64{}, 8}, {"munmap", [6]uint64{}, 8},
		{"mmap", [6]uint64{}, always}, {"mprotect", [6]uint64{}, always}, {"futex", [6]uint64{}, always},
		{"rt_sigprocmask", [6]uint64{}, always}, {"epoll_pwait", [6]uint64{}, always},
		{"openat", [6]uint64{}, 15}, {"ioctl", terminal, 15}, {"clone", [6]uint64{17}, 12},
		{"socket", [6]uint64{afUnix, sockStream}, 18}, {"socket", [6]uint64{afInet, sockStream}, 25},
	} {
		for _, arch := range testArches {
			most := 0
			for _, c := range configs() {
				p := mustCompile(t, arch.name, c)
				nr, ok := Number(arch.name, test.name)
				if !ok {
					t.Fatalf("%s has no %s", arch.name, test.name)
				}
				_, steps := interpret(t, p.Instructions(), data{nr: nr, arch: arch.audit, args: test.args})
				most = max(most, steps)
			}
			t.Logf("%s: %s: at most %d", arch.name, test.name, most)
			if most > test.bound {
				t.Errorf("%s: %s executes %d instructions, want at most %d", arch.name, test.name, most, test.bound)
			}
		}
	}
}

// TestSize bounds the program, which the kernel copies, checks and translates
// at the start of every command, and what building it allocates.
func TestSize(t *testing.T) {
	for _, arch := range testArches {
		for _, c := range configs() {
			if n := mustCompile(t, arch.name, c).Len(); n > 292 {
				t.Errorf("%s %+v: %d instructions, want at most 292", arch.name, c, n)
			}
		}
	}
	allocations := testing.AllocsPerRun(100, func() { mustCompile(t, "amd64", Config{}) })
	if allocations > 6 {
		t.Errorf("Compile allocates %.0f times, want at most 6: is there room for all in the plan?", allocations)
	}
}

// TestLongJumps builds searches whose ends are further apart than a
// conditional jump reaches.
func TestLongJumps(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		outcomes := make([]outcome, 300)
		for i := range outcomes {
			outcomes[i] = outcome{last: uint32(i)}
			if i%2 == 0 { // a check, so that it is not a plain return
				outcomes[i].rules = []*rule{{checks: []check{{word: arg0, values: []uint32{7}}}, errno: Errno(i)}}
			}
		}
		var list []span
		for nr := uint32(0); len(list) < 1500; nr += 1 + random.Uint32N(3) {
			list = append(list, span{nr, uint16(random.IntN(len(outcomes))), uint16(1 + random.IntN(9))})
		}
		code := search(amd64, list, outcomes, RefusalsBare)
		vm := newMachine(t, code)
		for i, s := range list {
			for _, arg := range []uint64{6, 7} {
				o := outcomes[s.outcome]
				want := o.last
				if arg == 7 && o.rules != nil {
					want = o.rules[0].ret(RefusalsBare)
				}
				d := data{nr: s.first, arch: auditArch[amd64], args: [6]uint64{arg}}
				got, _ := interpret(t, code, d)
				if second := vm.run(t, d); got != want || second != want {
					t.Fatalf("seed %d: span %d: %#x and %#x, want %#x", seed, i, got, second, want)
				}
			}
		}
	}
}
