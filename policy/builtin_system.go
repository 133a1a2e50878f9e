// SPDX-License-Identifier: Apache-2.0

package policy

// The tables of the built-in policy "system". A path that a host lacks is
// skipped, so the tables hold the names of all common distributions. Two
// rules decide what is in them:
//
//   - a program of the distribution needs it to start or to work;
//   - no account's, service's or deployment's credential is kept there, even
//     where its mode lets everyone read it.
//
// Symbolic links need no entry: Landlock judges the file that is opened, not
// the links on the way to it (landlock(7)), and a listed link stands for its
// target. So resolv.conf covers what systemd-resolved has in /run, and /usr
// covers a merged /bin.

// programPaths hold programs, libraries and their data, for everyone and from
// packages. Left out is /opt as a whole: vendors install services there that
// keep configuration and keys beside the program.
var programPaths = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	// The stores of NixOS and Guix, and the links into them.
	"/nix/store", "/gnu/store", "/run/current-system", "/run/opengl-driver",
	// Folders that hold a tool chain and nothing else: those of GitHub's
	// runners and of the usual container images.
	"/opt/hostedtoolcache", "/opt/conda", "/opt/venv", "/opt/java", "/opt/gradle",
	"/go/bin", "/go/pkg/mod",
	// Homebrew, without its etc and var, where services keep their data.
	"/home/linuxbrew/.linuxbrew/bin", "/home/linuxbrew/.linuxbrew/sbin",
	"/home/linuxbrew/.linuxbrew/Cellar", "/home/linuxbrew/.linuxbrew/Homebrew",
	"/home/linuxbrew/.linuxbrew/include", "/home/linuxbrew/.linuxbrew/lib",
	"/home/linuxbrew/.linuxbrew/opt", "/home/linuxbrew/.linuxbrew/share",
	"/home/linuxbrew/.linuxbrew/etc/ca-certificates", "/home/linuxbrew/.linuxbrew/etc/openssl@3",
}

// configPaths are what the C library and nearly every program ask /etc for:
// the loader, names of users, hosts and services, time, language.
//
// Left out, although readable to everyone: environment (it often holds a
// proxy's password), npmrc and pip.conf (a registry's token; npm and pip go
// on without), fstab (a network share's password), machine-id (it identifies
// the host, and few programs need it).
var configPaths = []string{
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
	"/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/login.defs",
	"/etc/hosts", "/etc/hostname", "/etc/host.conf", "/etc/resolv.conf", "/etc/gai.conf",
	"/etc/networks", "/etc/netconfig", "/etc/protocols", "/etc/services", "/etc/rpc",
	"/etc/localtime", "/etc/timezone", "/etc/locale.conf", "/etc/locale.alias", "/etc/default/locale",
	"/etc/os-release", "/etc/debian_version", "/etc/lsb-release", "/etc/redhat-release",
	"/etc/fedora-release", "/etc/alpine-release", "/etc/arch-release", "/etc/system-release",
	"/etc/magic", "/etc/magic.mime", "/etc/mime.types", "/etc/alternatives",
	// Read by cp, install and others on SELinux hosts.
	"/etc/selinux",
}

// trustPaths are the certificates of public authorities and the rules for
// ciphers. Private keys have folders of their own (ssl/private, pki/tls/private).
var trustPaths = []string{
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ct_log_list.cnf", "/etc/ssl/openssl.cnf",
	"/etc/ca-certificates", "/etc/ca-certificates.conf",
	"/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf",
	"/etc/pki/ca-trust/extracted", "/etc/pki/java/cacerts",
	"/etc/crypto-policies", "/etc/gnutls/config",
}

// shellPaths are what shells and terminals read for all users. A login shell
// reports each of its start files that it cannot read.
var shellPaths = []string{
	"/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc", "/etc/bash_completion.d",
	"/etc/zsh", "/etc/zshenv", "/etc/zprofile", "/etc/zshrc", "/etc/shells",
	"/etc/inputrc", "/etc/terminfo", "/etc/DIR_COLORS", "/etc/manpath.config", "/etc/man_db.conf", "/etc/skel",
}

// runtimePaths are parts of interpreters and of git that distributions keep
// in /etc.
var runtimePaths = []string{
	"/etc/gitconfig", "/etc/gitattributes",
	// Debian links each Python's sitecustomize.py to here.
	"/etc/python3", "/etc/python3.8", "/etc/python3.9", "/etc/python3.10", "/etc/python3.11",
	"/etc/python3.12", "/etc/python3.13", "/etc/python3.14", "/etc/python3.15",
	// Debian's Perl has it in @INC.
	"/etc/perl",
	// Debian and Fedora link a JDK's conf folder to here.
	"/etc/java", "/etc/java-8-openjdk", "/etc/java-11-openjdk", "/etc/java-17-openjdk",
	"/etc/java-21-openjdk", "/etc/java-25-openjdk", "/etc/.java",
	// Debian's Maven does not start without these. Its settings.xml is left
	// out: it is where the passwords of package repositories belong.
	"/etc/maven/m2.conf", "/etc/maven/logging", "/etc/maven/toolchains.xml",
	"/etc/gdb", "/etc/fonts", "/var/cache/fontconfig",
}

// toolPaths let build scripts ask which packages are installed.
var toolPaths = []string{
	"/etc/dpkg", "/var/lib/dpkg", "/var/lib/rpm", "/var/lib/pacman/local",
}

// kernelPaths tell programs about themselves and the machine: processors for
// thread pools, memory and control-group limits for heaps. Other processes'
// secrets in /proc are closed by the ptrace rule of a Landlock domain.
var kernelPaths = []string{
	"/proc",
	"/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup",
	"/sys/kernel/mm/transparent_hugepage", "/sys/kernel/mm/hugepages",
}

var randomDevices = []string{"/dev/random", "/dev/urandom"}

// devices can be written without an effect that lasts. Left out are
//
//   - /dev/shm: other processes of the user share memory there, so what a
//     command writes could harm them;
//   - /dev/pts: it holds the user's other terminals.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"}
