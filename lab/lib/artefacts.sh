# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the cache holds, and under which key. Change an ingredient and the artefact is built anew.
# shellcheck disable=SC2154  # lab: set by the script that reads this file

kernel_row() { rows "$lab/kernels" | awk -v name="$1" '$1 == name'; }

kernel_dir() { echo "$LAB_DIR/kernels/$1-$(key "$(kernel_row "$1")" "$lab/steps/kernel" "$lab/lib/apt.sh")"; }

base_dir() {
  echo "$LAB_DIR/images/base-$(key "$lab/images/base.packages" "$lab/steps/base" "$lab/lib/apt.sh" "$lab/lib/cpio.sh")"
}

# The Go layer is warm for the module of the suite realjob, and only for this version of Go.
go_module=$lab/suites/realjob/project
go_dir() {
  local files
  mapfile -t files < <(find "$go_module" -type f | LC_ALL=C sort)
  echo "$LAB_DIR/images/go-$(key "$(go env GOVERSION GOROOT)" "$lab/steps/go" "$lab/lib/cpio.sh" "${files[@]}")"
}

need_kernel() {
  local name suite prefix
  read -r name suite prefix <<<"$(kernel_row "$1")"
  [ -n "$name" ] || die "cannot find the kernel '$1': the table $lab/kernels has$(rows "$lab/kernels" | awk '{printf " %s", $1}')"
  artefact "$(kernel_dir "$name")" "$lab/steps/kernel" "$name" "$suite" "$prefix" || die "cannot fetch the kernel $name"
}

need_base() { artefact "$(base_dir)" "$lab/steps/base" "$lab/images/base.packages" || die "cannot build the base image"; }

need_go() {
  need_base
  artefact "$(go_dir)" "$lab/steps/go" "$go_module" "$(base_dir)/busybox" || die "cannot build the image with Go"
}

# need_everything: kernels and images at the same time, since most of it is waiting for a mirror.
need_everything() {
  local name rest pids=() pid failed=
  need_go & pids+=($!)
  while read -r name rest; do
    need_kernel "$name" & pids+=($!)
  done < <(rows "$lab/kernels")
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  [ -z "$failed" ] || die "cannot set the lab up"
}
