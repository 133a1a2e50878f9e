// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/ambit-sandbox/ambit/internal/journal"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/internal/runner"
	"github.com/ambit-sandbox/ambit/policy"
)

// Config is the configuration file.
type Config struct {
	Listen    string `json:"listen"`
	TCP       string `json:"tcp"`
	TokenFile string `json:"token_file"`
	TLS       *struct {
		Cert string `json:"cert"`
		Key  string `json:"key"`
	} `json:"tls"`
	Hosts     []string `json:"hosts"`
	AllowUIDs []uint32 `json:"allow_uids"`

	Projects string                  `json:"projects"`
	Policy   *policy.Policy          `json:"policy"`
	Secrets  map[string]SecretSource `json:"secrets"`

	Supervisor string `json:"supervisor"`
	Pool       int    `json:"pool"`
	Cgroup     string `json:"cgroup"`

	Concurrency     int             `json:"concurrency"`
	Queue           *int            `json:"queue"`
	QueueTimeout    policy.Duration `json:"queue_timeout"`
	MaxOutputBytes  int64           `json:"max_output_bytes"`
	MaxRequestBytes int64           `json:"max_request_bytes"`
	DefaultTimeout  policy.Duration `json:"default_timeout"`
	MaxTimeout      policy.Duration `json:"max_timeout"`
	MaxConnections  int             `json:"max_connections"`
	IdleTimeout     policy.Duration `json:"idle_timeout"`
	StallTimeout    policy.Duration `json:"stall_timeout"`

	Journal         string `json:"journal"`
	JournalMaxBytes int64  `json:"journal_max_bytes"`
	JournalRequired bool   `json:"journal_required"`

	use    Use
	file   string
	tokens []token
}

// Use is what a configuration is read for.
type Use int

const (
	// Service listens for clients.
	Service Use = iota
	// Beside serves one client over streams, maybe beside a service with the
	// same configuration: where that listens does not matter, and the journal
	// is one of its own.
	Beside
)

// keptJournals is how many full files of the journal are kept.
const keptJournals = 8

func (c *Config) openJournal() (*journal.Journal, error) {
	if c.use == Beside {
		return journal.OpenBeside(c.Journal, c.JournalMaxBytes, keptJournals)
	}
	return journal.Open(c.Journal, c.JournalMaxBytes, keptJournals)
}

// SecretSource is where the value of a secret is.
type SecretSource struct {
	File string `json:"file"`
}

// LoadConfig reads and checks a configuration. The error holds every setting
// that can't be used, with what to do about it.
func LoadConfig(file string, use Use) (*Config, error) {
	if err := hostpath.Here(os.Getenv).CheckOwn(file); err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	c := &Config{file: file, use: use}
	if err := decode(file, b, withComments, c); err != nil {
		return nil, err
	}
	c.defaults()
	return c, c.check()
}

// maxPool bounds the supervisors that wait ahead.
const maxPool = 64

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

func (c *Config) defaults() {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); c.Listen == "" && c.TCP == "" && filepath.IsAbs(dir) {
		c.Listen = filepath.Join(dir, "ambit", "ambitd.sock")
	}
	if c.Policy == nil {
		c.Policy = &policy.Policy{Extends: policy.Workspace}
	}
	queue := 64
	if c.Queue == nil {
		c.Queue = &queue
	}
	home, _ := os.UserHomeDir()
	setDefault(&c.Concurrency, runtime.NumCPU())
	setDefault(&c.Cgroup, runner.Auto)
	setDefault(&c.QueueTimeout, policy.Duration(time.Minute))
	setDefault(&c.MaxOutputBytes, 1<<20)
	setDefault(&c.MaxRequestBytes, 4<<20)
	setDefault(&c.MaxTimeout, policy.Duration(10*time.Minute))
	setDefault(&c.DefaultTimeout, c.MaxTimeout)
	setDefault(&c.MaxConnections, defaultConnections())
	setDefault(&c.IdleTimeout, policy.Duration(2*time.Minute))
	setDefault(&c.StallTimeout, policy.Duration(30*time.Second))
	setDefault(&c.Journal, journal.DefaultDir(home, os.Getenv("XDG_STATE_HOME")))
	setDefault(&c.JournalMaxBytes, 16<<20)
}

// check looks at each setting, and gathers what is wrong.
func (c *Config) check() error {
	var errs []error
	bad := func(setting, problem, remedy string) {
		errs = append(errs, fmt.Errorf("cannot use %s of %s: %s; %s", setting, c.file, problem, remedy))
	}
	if err := c.Policy.Check(c.file); err != nil {
		errs = append(errs, err)
	}
	if len(c.Policy.Secrets) > 0 {
		bad("policy.secrets", "secrets are the server's", `move them to "secrets" beside "policy"`)
	}
	switch st, err := os.Stat(c.Projects); {
	case c.Projects == "":
		bad("projects", "it is missing", `name the folder that holds one folder for each project: "projects": "/srv/projects"`)
	case !filepath.IsAbs(c.Projects):
		bad("projects", "the path is relative", "write it from / on")
	case err != nil:
		bad("projects", err.Error(), "make the folder, or name another one")
	case !st.IsDir():
		bad("projects", "it is not a folder", "name the folder that holds the projects")
	}
	if c.use == Service {
		c.checkListen(bad)
	}
	if c.Supervisor != "" && !filepath.IsAbs(c.Supervisor) {
		bad("supervisor", "the path is relative", "name the ambit binary of this release from / on, or leave it out for the one beside ambitd")
	}
	if c.Cgroup != runner.Auto && c.Cgroup != runner.Off && !filepath.IsAbs(c.Cgroup) {
		bad("cgroup", "it is no folder", `give "auto", "off", or the control group that was delegated, from / on`)
	}
	if c.Pool > maxPool {
		bad("pool", "each waiting supervisor is two processes", fmt.Sprintf("give at most %d", maxPool))
	}
	for name, s := range c.Secrets {
		if _, err := readSecret(s.File); err != nil {
			bad("secrets."+name, err.Error(), "put the value into a file of mode 0600 and name it")
		}
	}
	for _, n := range []struct {
		name  string
		value int64
	}{{"concurrency", int64(c.Concurrency)}, {"max_output_bytes", c.MaxOutputBytes}, {"max_connections", int64(c.MaxConnections)}, {"max_request_bytes", c.MaxRequestBytes}, {"max_timeout", int64(c.MaxTimeout)}, {"queue_timeout", int64(c.QueueTimeout)},
		{"idle_timeout", int64(c.IdleTimeout)}, {"stall_timeout", int64(c.StallTimeout)}} {
		if n.value < 0 {
			bad(n.name, "it is negative", "leave it out for the default")
		}
	}
	if c.MaxOutputBytes > 64<<20 {
		bad("max_output_bytes", "an answer is held in memory", "give at most 67108864")
	}
	if c.DefaultTimeout > c.MaxTimeout || c.DefaultTimeout < 0 {
		bad("default_timeout", "it is negative or longer than max_timeout", "give a shorter one")
	}
	if !filepath.IsAbs(c.Journal) {
		bad("journal", "the path is relative", "write it from / on")
	}
	c.checkOwn(bad)
	return errors.Join(errs...)
}

// checkOwn refuses files that a command which ran before could have changed,
// or led the server away from.
func (c *Config) checkOwn(bad func(setting, problem, remedy string)) {
	host := hostpath.Here(os.Getenv)
	named := map[string]string{"listen": c.Listen, "token_file": c.TokenFile, "journal": c.Journal, "supervisor": c.Supervisor}
	if c.TLS != nil {
		named["tls.cert"], named["tls.key"] = c.TLS.Cert, c.TLS.Key
	}
	for name, s := range c.Secrets {
		named["secrets."+name] = s.File
	}
	for _, setting := range slices.Sorted(maps.Keys(named)) {
		if name := named[setting]; filepath.IsAbs(name) {
			if err := host.CheckOwn(name); err != nil {
				bad(setting, err.Error(), "name another one")
			}
		}
	}
}

func (c *Config) checkListen(bad func(setting, problem, remedy string)) {
	switch {
	case c.Listen != "" && c.TCP != "":
		bad("listen", "tcp is set too", "leave one")
	case c.Listen == "" && c.TCP == "":
		bad("listen", "it is missing, and XDG_RUNTIME_DIR is not set", `name a socket: "listen": "/run/user/1000/ambit/ambitd.sock"`)
	case c.Listen != "" && !filepath.IsAbs(c.Listen):
		bad("listen", "the path is relative", "write it from / on")
	case len(c.Listen) > 107: // sun_path with its NUL, unix(7)
		bad("listen", "a socket's path has at most 107 bytes", "name a shorter one")
	}
	if c.TokenFile != "" {
		var err error
		if c.tokens, err = readTokens(c.TokenFile); err != nil {
			bad("token_file", err.Error(), "write lines of NAME:TOKEN, 16 characters or more, into a file of mode 0600 (openssl rand -hex 32)")
		}
	}
	if c.TLS != nil && c.TCP == "" {
		bad("tls", "it is for tcp only", "remove it")
	} else if c.TLS != nil {
		if _, err := tls.LoadX509KeyPair(c.TLS.Cert, c.TLS.Key); err != nil {
			bad("tls", err.Error(), "name the files of a certificate and its key, in PEM")
		}
	}
	if c.TCP == "" {
		return
	}
	host, _, err := net.SplitHostPort(c.TCP)
	if err != nil {
		bad("tcp", err.Error(), `write it as "127.0.0.1:8740"`)
		return
	}
	if c.TokenFile == "" {
		bad("tcp", "any user of this machine could connect", "set token_file, or use listen")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && c.TLS == nil {
		bad("tcp", "the address is not loopback", "set tls as well, or listen on 127.0.0.1")
	}
}
