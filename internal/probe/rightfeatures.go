// SPDX-License-Identifier: Apache-2.0

package probe

import "strconv"

// rightGroup is a family of Landlock bits that are reported one by one.
type rightGroup struct {
	prefix string
	names  []string
	rights func(bit int) Rights // the Rights that hold this bit alone
	doc    string               // what any of them does, before its name
}

var rightGroups = []rightGroup{
	{"landlock.fs.", fsNames, func(i int) Rights { return Rights{FS: 1 << i} }, "files: "},
	{"landlock.net.", netNames, func(i int) Rights { return Rights{Net: 1 << i} }, "ports: "},
	{"landlock.scope.", scopeNames, func(i int) Rights { return Rights{Scope: 1 << i} }, "outside the sandbox: "},
	{"landlock.restrict.", restrictNames, func(i int) Rights { return Rights{Restrict: 1 << i} }, "landlock_restrict_self flag: "},
	{"landlock.rule.", addRuleNames, func(i int) Rights { return Rights{AddRule: 1 << i} }, "landlock_add_rule flag: "},
}

// rightResults tells of every Landlock right that this program knows whether
// the host has it.
func rightResults(f *Facts) []Result {
	var out []Result
	for _, g := range rightGroups {
		for i, name := range g.names {
			out = append(out, rightResult(f, g, i, name))
		}
	}
	return out
}

func rightResult(f *Facts, g rightGroup, bit int, name string) Result {
	want := g.rights(bit)
	abi, since := abiOf(want)
	r := Result{
		Feature: Feature{Name: Name(g.prefix + name), Since: since, Doc: g.doc + name},
		Verdict: f.Landlock.Verdict,
		Detail:  f.Landlock.Detail,
		Err:     f.Landlock.Err,
	}
	if f.Landlock.Verdict == Yes && f.Rights.or(want) != f.Rights {
		r.Verdict, r.Detail = No, "needs ABI "+strconv.Itoa(abi)
	}
	return r
}

// erratumResults tells which errata the kernel calls fixed. A kernel that
// can't be asked, and one that never had the fault, are told apart.
func erratumResults(f *Facts) []Result {
	var out []Result
	for _, e := range errataTable {
		r := Result{Feature: Feature{
			Name: Name("landlock.fixed." + strconv.Itoa(e.Number)),
			Doc:  "the kernel has the fix of Landlock erratum " + strconv.Itoa(e.Number) + ", " + e.Title,
		}}
		switch {
		case f.Landlock.Verdict != Yes:
			r.Verdict, r.Detail, r.Err = f.Landlock.Verdict, f.Landlock.Detail, f.Landlock.Err
		case f.ABI < e.ABI:
			r.Verdict, r.Detail = Yes, "this ABI does not have the fault"
		case f.errataErr != nil:
			r.Detail, r.Err = "this kernel can't be asked for its errata", f.errataErr
		case f.Errata.Has(e.Number):
			r.Verdict = Yes
		default:
			r.Verdict, r.Detail = No, e.Unfixed
		}
		out = append(out, r)
	}
	return out
}
