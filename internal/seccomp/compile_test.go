// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

var testArches = []struct {
	name  string
	audit uint32
}{{"amd64", 0xc000003e}, {"arm64", 0xc00000b7}}

// configs lists every Config there is.
func configs() []Config {
	var list []Config
	for network := NetworkNone; network <= NetworkOpen; network++ {
		for metadata := Refuse; metadata <= Allow; metadata++ {
			for connect := Refuse; connect <= Allow; connect++ {
				for bits := range 8 {
					either := func(bit int) Verdict { return []Verdict{Refuse, Allow}[bits>>bit&1] }
					for _, files := range []Files{FilesNative, FilesWrites, FilesAll} {
						for reads := Refuse; reads <= Allow; reads++ {
							// Each verdict over signals, in turn: all with all is too much.
							signals := Verdict(len(list) % 3)
							refusals := Refusals(len(list) / 3 % 2)
							truncate := either(1)
							if truncate == Refuse && len(list)%2 == 0 {
								truncate = Notify
							}
							if c := (Config{network, metadata, connect, either(0), truncate, either(2), files, reads, signals, (reads + 1) % 3, refusals}); c.check() == nil {
								list = append(list, c)
							}
						}
					}
				}
			}
		}
	}
	return list
}

// samples are arguments in which rules are interested, their neighbours, and
// each of them with something in the high half.
var samples = func() []uint64 {
	list := []uint64{
		0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 15, 16, 17, 38, 58, 132, 136, 255, 256, 262,
		0x801, 0x802, 0x80001, 0x80802, 0x803, // socket types with their flags
		0x200, 0x201, 0x202, 0x203, 0x240, 0x80243, // open flags
		0x80, 0x100, 0x10f00, 0x20000, 0x40000, 0x40600, 0x1200011, 0x3d0f00, 0x10000000, 0x7e020000, 0x80000000,
		0x40008, 0x60008, 0x400000, 0xffffffff, // personalities
		0x2000, 0x2802, 0x5451, 0x5452, 0x5401, 0x5411, 0x5412, 0x5413, 0x541b, 0x541c, 0x5423, 0x5424,
	}
	for _, v := range fileFlagRefuse[0].checks[0].values {
		list = append(list, uint64(v)-1, uint64(v), uint64(v)+1)
	}
	for _, v := range slices.Clone(list) {
		list = append(list, v|1<<32, v|1<<63)
	}
	return list
}()

// TestEveryNumber runs every filter there is on every number that Linux may
// have, the x32 numbers among them, with the arguments that a rule could trip
// over when it looks at the wrong one, on both interpreters.
func TestEveryNumber(t *testing.T) {
	numbers := []uint32{1<<30 - 1, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	for nr := range uint32(601) {
		numbers = append(numbers, nr, nr|1<<30)
	}
	arguments := [][6]uint64{{}, {1, 1, 1, 1, 1, 1}, {^uint64(0), ^uint64(0), ^uint64(0)}}
	for _, arch := range testArches {
		for _, c := range configs() {
			p := mustCompile(t, arch.name, c)
			code, vm := p.Instructions(), newMachine(t, p.Instructions())
			for _, nr := range numbers {
				for _, args := range arguments {
					d := data{nr: nr, arch: arch.audit, args: args}
					want := plain(arch.name, c, d)
					got, _ := interpret(t, code, d)
					if second := vm.run(t, d); got != want || second != want {
						t.Fatalf("%s %+v: number %d with %#x: %#x and %#x, want %#x", arch.name, c, nr, args, got, second, want)
					}
				}
			}
		}
	}
}

// TestArguments tries combinations of interesting arguments on the calls whose
// arguments matter: all of them the first time that a call has these rules,
// some in the other configurations, where only their place in the program
// differs.
func TestArguments(t *testing.T) {
	checked, seen := 0, make(map[string]bool)
	random := rand.New(rand.NewPCG(1, 2))
	for _, arch := range testArches {
		for _, c := range configs() {
			code := mustCompile(t, arch.name, c).Instructions()
			for nr, name := range plainNames[arch.name] {
				d := data{nr: nr, arch: arch.audit}
				if constant(code, d.arch, d.nr) {
					continue // TestEveryNumber has it
				}
				key := arch.name + name + rulesKey(t, arch.name, c, nr)
				list := combinations
				if seen[key] {
					list = some(random, combinations)
				}
				seen[key] = true
				for _, d.args = range list {
					checked++
					if got, _ := interpret(t, code, d); got != plain(arch.name, c, d) {
						t.Fatalf("%s %+v: %s with %#x: %#x, want %#x", arch.name, c, name, d.args, got, plain(arch.name, c, d))
					}
				}
			}
		}
	}
	if checked < 500000 {
		t.Errorf("only %d combinations were tried", checked)
	}
}

// rulesKey tells apart the rules that a call can have.
func rulesKey(t *testing.T, arch string, c Config, nr uint32) string {
	rules, err := Explain(arch, c, nr)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(rules)
}

// some draws 100 of a list.
func some(random *rand.Rand, list [][6]uint64) [][6]uint64 {
	drawn := make([][6]uint64, 100)
	for i := range drawn {
		drawn[i] = list[random.IntN(len(list))]
	}
	return drawn
}

// combinations has each sample in each place, beside several others, and all
// triples of the low samples, since rules on sockets look at three at once.
var combinations = func() [][6]uint64 {
	var list [][6]uint64
	for place := range 3 {
		for _, other := range []uint64{0, 1, 2, 10, 16, 1 << 32} {
			for _, v := range samples {
				args := [6]uint64{other, other, other, other, other, other}
				args[place] = v
				list = append(list, args)
			}
		}
	}
	for _, domain := range samples[:19] {
		for _, kind := range samples[:30] {
			for _, protocol := range samples[:20] {
				list = append(list, [6]uint64{domain, kind, protocol})
			}
		}
	}
	return list
}()

// TestForeignArchitecture proves that no number passes under another
// architecture's numbering, int $0x80 on amd64 among them.
func TestForeignArchitecture(t *testing.T) {
	foreign := []uint32{
		0, 0x40000003, 0x3e, 0x8000003e, 0x4000003e, 0xc000003f, 0x40000028, 0xb7, 0x800000b7, 0xc00000f3, ^uint32(0),
	}
	for i, arch := range testArches {
		code := mustCompile(t, arch.name, loosest).Instructions()
		for _, audit := range append(foreign, testArches[1-i].audit) {
			for nr := range uint32(601) {
				if got, _ := interpret(t, code, data{nr: nr, arch: audit}); got != retErrno|uint32(ENOSYS) {
					t.Fatalf("%s: number %d of architecture %#x: %#x, want ENOSYS", arch.name, nr, audit, got)
				}
			}
		}
	}
}

var loosest = Config{NetworkOpen, Allow, Allow, Allow, Allow, Allow, FilesNative, Allow, Allow, Allow, RefusalsBare}

// FuzzFilter compares the compiled filter with the plain description.
func FuzzFilter(f *testing.F) {
	all := configs()
	programs := make([][2][]rawInstruction, len(all))
	for i, c := range all {
		for j, arch := range testArches {
			programs[i][j] = mustCompile(f, arch.name, c).Instructions()
		}
	}
	for _, v := range samples {
		f.Add(uint16(v), v&1 == 0, uint32(41), v, v>>1, v)
	}
	f.Fuzz(func(t *testing.T, config uint16, first bool, nr uint32, a0, a1, a2 uint64) {
		i, j := int(config)%len(all), 1
		if first {
			j = 0
		}
		if nr > 1<<20 && nr&1 == 0 { // most numbers should be real ones
			nr %= 512
		}
		d := data{nr: nr, arch: testArches[j].audit, args: [6]uint64{a0, a1, a2}}
		if got, _ := interpret(t, programs[i][j], d); got != plain(testArches[j].name, all[i], d) {
			t.Errorf("%s %+v: %+v: %#x, want %#x", testArches[j].name, all[i], d, got, plain(testArches[j].name, all[i], d))
		}
	})
}

// TestBadInput wants a typed error for what no filter can be built for.
func TestBadInput(t *testing.T) {
	var arch *ArchError
	if _, err := Compile("riscv64", Config{}); !errors.As(err, &arch) || arch.Arch != "riscv64" {
		t.Errorf("Compile for riscv64: %v, want *ArchError", err)
	}
	for field, c := range map[string]Config{
		"Network":      {Network: 2},
		"Metadata":     {Metadata: 3},
		"UnixConnect":  {UnixConnect: 9},
		"Reads":        {Reads: 3},
		"Signals":      {Signals: 3},
		"Landlock":     {Landlock: 3},
		"UnixDatagram": {UnixDatagram: Notify},
		"PathTruncate": {PathTruncate: 3},
		"SharedIPC":    {SharedIPC: Notify},
		"Refusals":     {Refusals: 2},
	} {
		var config *ConfigError
		if _, err := Compile("amd64", c); !errors.As(err, &config) || config.Field != field {
			t.Errorf("Compile of %+v: %v, want *ConfigError for %s", c, err, field)
		}
		if _, err := Rules(c); !errors.As(err, &config) {
			t.Errorf("Rules of %+v: %v, want *ConfigError", c, err)
		}
	}
}

func mustCompile(t testing.TB, arch string, c Config) *Program {
	t.Helper()
	p, err := Compile(arch, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// BenchmarkCompile is paid at the start of every command.
func BenchmarkCompile(b *testing.B) {
	for _, c := range []Config{{}, {Metadata: Notify, UnixConnect: Notify, Reads: Notify}, loosest} {
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustCompile(b, "amd64", c).Bytes()
			}
		})
	}
}
