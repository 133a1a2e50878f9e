# What Ubuntu (24.04 and later) does to a program that has no profile of its own: the user namespace can be made,
# and then no capability works in it, so that mounting or bringing up a network interface fails with EPERM.
# There the kernel puts a process into such a profile when it makes the namespace; kernels elsewhere can't, so the
# whole job runs under it from the start. Children keep it. Run under it: run:ubuntu.
abi <abi/4.0>,
include <tunables/global>

profile ambit_lab_ubuntu {
  audit deny capability,
  audit deny change_profile,
  allow userns,
  allow file rwlkm /{,**},
  allow pix /** -> &ambit_lab_ubuntu,
  allow network,
  allow unix,
  allow dbus,
  allow mqueue,
  allow signal,
  allow ptrace,
}
