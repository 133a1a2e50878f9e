// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEncode(t *testing.T) {
	want := `{
  "extends": "system",
  "read_paths": [
    "/a b",
    "~/<&>"
  ],
  "allow_network": false,
  "env": {
    "set": {
      "A": "1",
      "B": "\n"
    }
  },
  "secrets": {
    "K": {
      "fd": 3
    }
  },
  "limits": {
    "timeout": "1m30s",
    "processes": 64
  }
}
`
	p := Policy{
		Extends: System, ReadPaths: []string{"/a b", "~/<&>"}, AllowNetwork: ptr(false),
		Env:     &Env{Set: map[string]string{"B": "\n", "A": "1"}},
		Secrets: map[string]Secret{"K": {FD: ptr(3)}},
		Limits:  &Limits{Timeout: ptr(Duration(90e9)), Processes: ptr(int64(64))},
	}
	for range 10 { // the order of maps changes from call to call
		got, err := Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	const notUTF8 = " as JSON: it is not valid UTF-8; give it by a flag"
	for want, p := range map[string]Policy{
		"policy: cannot write write_paths[1]" + notUTF8:                                               {WritePaths: []string{"/a", "/\xff"}},
		"policy: cannot write work_dir" + notUTF8:                                                     {WorkDir: "/\xff"},
		"policy: cannot write secrets.A.file" + notUTF8:                                               {Secrets: map[string]Secret{"A": {File: "/\xff"}}},
		"policy: cannot write env.set.A" + notUTF8:                                                    {Env: &Env{Set: map[string]string{"A": "\xff"}}},
		`policy: read_paths[0]: "a" is a relative path; write ${WORK_DIR}/a instead`:                  {ReadPaths: []string{"a"}},
		"policy: limits.processes must be at least 1, not 0; leave it out for no limit":               {Limits: &Limits{Processes: ptr(int64(0))}},
		"policy: secrets.A has no source; give it one of file, fd, env":                               {Secrets: map[string]Secret{"A": {}}},
		`policy: extends: there is no built-in policy "x"; known are none, system, workspace`:         {Extends: "x"},
		"policy: env.set.A: the value holds a NUL byte; no variable can hold one":                     {Env: &Env{Set: map[string]string{"A": "\x00"}}},
		`policy: accept[0]: there is no item "files"; known are ` + strings.Join(acceptNames(), ", "): {Accept: []string{"files"}},
	} {
		if text, err := Encode(p); err == nil || err.Error() != want || !errors.Is(err, ErrInvalid) {
			t.Errorf("\n got %s, %v\nwant %s", text, err, want)
		}
	}
}

// Each field that the types have can be decoded under the name that Encode
// gives it, so that neither is forgotten when a field is added.
func TestDecodeKnowsEveryField(t *testing.T) {
	check := func(of reflect.Type, names []string) {
		var tags []string
		for i := range of.NumField() {
			tag, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			tags = append(tags, tag)
		}
		if diff := cmp.Diff(tags, names); diff != "" {
			t.Errorf("%v (-type +table):\n%s", of, diff)
		}
	}
	check(reflect.TypeFor[Policy](), fieldNames(policyFields))
	check(reflect.TypeFor[Env](), fieldNames(envFields))
	check(reflect.TypeFor[Secret](), fieldNames(secretFields))
	check(reflect.TypeFor[Limits](), fieldNames(limitFields))
	var l Limits
	if got, want := len(l.amounts())+1, reflect.TypeFor[Limits]().NumField(); got != want {
		t.Errorf("amounts knows %d of %d limits", got, want)
	}
}
