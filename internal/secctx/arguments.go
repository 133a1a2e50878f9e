// SPDX-License-Identifier: Apache-2.0

package secctx

import "strings"

// mostArguments bounds what is kept of a command line.
const mostArguments = 256

// hidden is what stands for a value that may be a secret.
const hidden = "[hidden]"

// argumentsOf splits the content of /proc/PID/cmdline, and hides what looks
// like a secret: command lines are readable for all, but a context is passed
// on.
func argumentsOf(cmdline string) *List[string] {
	args := strings.Split(strings.TrimSuffix(cmdline, "\x00"), "\x00")
	if cmdline == "" {
		args = nil
	}
	total := len(args)
	args = hideSecrets(args[:min(total, mostArguments)])
	l := listOf(texts(args), mostArguments)
	l.Total = total
	return l
}

// hideSecrets hides the values of arguments whose names say that they are
// secrets ("--password X", "API_KEY=X"), of HTTP headers, and the passwords
// of URLs. It is a net with holes: "-p X" means too many things.
func hideSecrets(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = hideURL(arg)
		name, _, assigned := strings.Cut(arg, "=")
		switch {
		case assigned && secretName(name):
			out[i] = name + "=" + hidden
		case i > 0 && strings.HasPrefix(args[i-1], "--") && !strings.Contains(args[i-1], "=") && secretName(args[i-1]):
			out[i] = hidden
		default:
			if name, _, ok := strings.Cut(arg, ":"); ok && len(name) < 40 && !strings.Contains(name, "/") && secretName(name) {
				out[i] = name + ": " + hidden
			}
		}
	}
	return out
}

// secretName says whether a name promises a secret.
func secretName(name string) bool {
	if len(name) > 200 || strings.ContainsAny(name, " \n") {
		return false
	}
	name = strings.ToLower(name)
	for _, word := range [...]string{"passw", "passphrase", "secret", "token", "api_key", "apikey", "api-key", "credential", "authorization", "cookie", "private-key", "private_key", "access_key", "access-key"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// hideURL hides the password in "scheme://user:password@host".
func hideURL(s string) string {
	i := strings.Index(s, "://")
	if i < 0 {
		return s
	}
	head, rest := s[:i+3], s[i+3:]
	end := strings.IndexAny(rest, "/?# ")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		return s
	}
	if colon := strings.IndexByte(rest[:at], ':'); colon >= 0 {
		return head + rest[:colon] + ":" + hidden + rest[at:]
	}
	return s
}
