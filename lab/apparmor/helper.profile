# The usual helper for namespaces, bwrap, is tied to a profile by its path: it gets its namespace and no capability
# in it. Its caller stays unconfined and sees nothing of this in its own /proc/self/attr, so that only a real
# attempt with the helper can tell. Loaded, not run under: load:helper.
abi <abi/4.0>,
include <tunables/global>

profile ambit_lab_helper /usr/bin/bwrap {
  audit deny capability,
  allow userns,
  allow file rwlkm /{,**},
  allow pix /** -> &ambit_lab_helper,
  allow network,
  allow unix,
  allow signal,
  allow ptrace,
}
