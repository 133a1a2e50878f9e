// SPDX-License-Identifier: Apache-2.0

//go:build linux

package ambit_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/cli"
)

func TestMain(m *testing.M) {
	ambit.Dispatch(os.Args)
	testscript.Main(m, map[string]func(){
		"ambit": func() { os.Exit(cli.Main(os.Args[1:])) },
	})
}

// TestScripts runs the command line's specification: testdata/script. Each
// script runs in a folder of its own, which is its home as well; the project
// is a folder below it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("TMPDIR", "/tmp")
			env.Setenv("PATH", env.Getenv("PATH"))
			for _, dir := range []string{"/home", "/project"} {
				if err := os.MkdirAll(env.WorkDir+dir, 0o755); err != nil {
					return err
				}
			}
			env.Cd = env.WorkDir + "/project"
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
