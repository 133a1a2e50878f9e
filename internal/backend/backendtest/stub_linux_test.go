package backendtest

import (
	"fmt"
	"os"
)

func processOperations() map[string]operation {
	return map[string]operation{"converse": listen, "ids": func([]string) (string, error) {
		b, _ := os.ReadFile("/proc/self/status")
		var a, bb, c, d int
		for _, l := range splitLines(string(b)) {
			fmt.Sscanf(l, "Uid:\t%d\t%d\t%d\t%d", &a, &bb, &c, &d)
		}
		return fmt.Sprint(a, " ", bb, " ", c, " ", d), nil
	}}
}
func childOperations() map[string]operation { return nil }
func splitLines(s string) []string {
	var o []string
	cur := ""
	for _, r := range s {
		if r == '\n' {
			o = append(o, cur)
			cur = ""
		} else {
			cur += string(r)
		}
	}
	return o
}
