// SPDX-License-Identifier: Apache-2.0

package denial

import "testing"

func TestOptional(t *testing.T) {
	for _, c := range []struct {
		program, object string
		want            bool
	}{
		{"bash", "/home/u/.bash_history", true},
		{"bash", "/home/u/.bash_histories", false},
		{"python3", "/home/u/.python_history", true},
		{"node", "/home/u/.node_repl_history", true},
		{"less", "/home/u/.local/state/lesshst", true},
		{"vim", "/home/u/.viminfo", true},
		{"vim", "/home/u/.vimrc", false},
		{"python3", "/p/lib/__pycache__", true},
		{"python3", "/p/lib/__pycache__/m.cpython-312.pyc.140", true},
		{"python3", "/cache/p/m.cpython-312.pyc", true},
		{"python3", "/p/lib/m.py", false},
		{"node", "/tmp/node-compile-cache/v22", true},
		{"npm install", "/home/u/.npm/_logs/x.log", true},
		{"npm install", "/home/u/.npm/_cacache", false},
		{"pip", "/home/u/.cache/pip/x", true},
		{"pip", "/home/u/.caches", false},
		{"go", "/home/u/.cache/go-build/00", false},
		{"go", "/home/u/.config/go/telemetry/local/x.count", true},
		{"go", "/home/u/.config", true},
		{"compile", "/home/u/.config/go", true},
		{"sh", "/home/u/.config", false},
		{"go", "/home/u/.config/go/env", false},
		{"cargo", "/home/u/.cargo", true},
		{"mkdir", "/home/u/.cargo", false},
		{"cargo", "/home/u/.cargo/config.toml", false},
		{"git gc", "/p/.git/gc.pid", true},
		{"git add", "/p/.git/index.lock", false},
		{"x", "", false},
	} {
		if got := isOptional(&Denial{Program: c.program, Object: c.object}); got != c.want {
			t.Errorf("%s, %s: %v", c.program, c.object, got)
		}
	}
}
