# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the cache holds, and under which key. Change an ingredient and the artefact is built anew.
# shellcheck disable=SC2154  # lab: set by the script that reads this file

kernel_row() { rows "$lab/kernels" | awk -v name="$1" '$1 == name'; }

kernel_dir() { echo "$LAB_DIR/kernels/$1-$(key "$(kernel_row "$1")" "$lab/steps/kernel" "$lab/lib/apt.sh")"; }

base_dir() {
  echo "$LAB_DIR/images/base-$(key "$lab/images/base.packages" "$lab/steps/base" "$lab/lib/apt.sh" "$lab/lib/packages.sh" "$lab/lib/cpio.sh")"
}

# The Go layer is warm for the module of the suite realjob, and only for this version of Go.
go_module=$lab/suites/realjob/project
go_dir() {
  local files
  mapfile -t files < <(find "$go_module" -type f | LC_ALL=C sort)
  echo "$LAB_DIR/images/go-$(key "$(go env GOVERSION GOROOT)" "$lab/steps/go" "$lab/lib/cpio.sh" "${files[@]}")"
}

# The layer with servers is what the base image lacks of their packages.
servers_dir() {
  echo "$LAB_DIR/images/servers-$(key "$lab/images/servers.packages" "$lab/images/base.packages" "$lab/steps/servers" \
    "$lab/lib/apt.sh" "$lab/lib/packages.sh" "$lab/lib/layer.sh" "$lab/lib/cpio.sh")"
}

systemd_dir() {
  echo "$LAB_DIR/images/systemd-$(key "$lab/images/systemd.packages" "$lab/images/base.packages" "$lab/steps/systemd" \
    "$lab/lib/apt.sh" "$lab/lib/packages.sh" "$lab/lib/layer.sh" "$lab/lib/cpio.sh")"
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

need_servers() {
  need_base
  artefact "$(servers_dir)" "$lab/steps/servers" "$lab/images/servers.packages" "$lab/images/base.packages" \
    "$(base_dir)/busybox" || die "cannot build the image with servers"
}

need_systemd() {
  need_base
  artefact "$(systemd_dir)" "$lab/steps/systemd" "$lab/images/systemd.packages" "$lab/images/base.packages" \
    "$(base_dir)/busybox" || die "cannot build the image with systemd"
}

# layers_of SUITES: what these have asked for on top of the base image, in the files named layers.
layers_of() {
  local suite
  for suite in ${1//,/ }; do cat "$lab/suites/$suite/layers" 2>/dev/null || true; done | sort -u
}

# with_layers LAYER...: the archives of the base image and these layers, as steps/boot takes them.
with_layers() {
  local layer images
  images=$(base_dir)/base.cpio
  for layer; do images+=,$("${layer}_dir")/$layer.cpio; done
  echo "$images"
}

# need_everything: kernels and images at the same time, since most of it is waiting for a mirror.
need_everything() {   # [ROWS of the jobs]: of some layers only what these need
  local name rest pids=() pid failed=
  (need_go && { [[ ${1:-} != *servers* ]] || need_servers; } && { [[ ${1:-} != *deploy* ]] || need_systemd; }) & pids+=($!)
  while read -r name rest; do
    need_kernel "$name" & pids+=($!)
  done < <(rows "$lab/kernels")
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  [ -z "$failed" ] || die "cannot set the lab up"
}
