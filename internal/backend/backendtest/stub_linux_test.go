package backendtest

import "syscall"

func processOperations() map[string]operation { return map[string]operation{"converse": listen} }
func childOperations() map[string]operation   { return nil }
func outerOperations() map[string]operation   { return nil }
func socketOperations() map[string]operation {
	return map[string]operation{"bind": func(a []string) (string, error) {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return "", err
		}
		return "", syscall.Bind(fd, &syscall.SockaddrUnix{Name: a[0]})
	}}
}
