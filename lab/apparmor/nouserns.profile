# Everything is allowed but making a user namespace, which fails with EACCES: a host whose administrator closed
# unprivileged namespaces for this service. Run under it: run:nouserns.
abi <abi/4.0>,
include <tunables/global>

profile ambit_lab_nouserns {
  allow all,
  audit deny userns create,
}
