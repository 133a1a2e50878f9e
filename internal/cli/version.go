// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version prints what was built.
func (a *App) version(args []string) int {
	v := struct {
		Version  string `json:"version"`
		Revision string `json:"revision,omitempty"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
	}{"devel", "", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	if len(args) == 1 && args[0] == "--json" {
		return a.printJSON(v)
	}
	if len(args) > 0 {
		return a.misuse(exitUsage, "unexpected argument "+args[0], "usage: ambit version [--json]")
	}
	fmt.Fprintf(a.Stdout, "ambit %s %s %s %s\n", v.Version, v.Revision, v.Go, v.Platform)
	return exitOK
}
