# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# `lab suite`: build what the jobs run, boot them side by side, and judge.
# shellcheck disable=SC2154  # lab: set by the script that reads this file

row_format='%-14s %-7s %-28s %-4s %6s %6s  %s\n'

suite() {
  case ${AMBIT_LAB:-run} in
    run) ;;
    skip)
      say "SKIPPED because AMBIT_LAB=skip: nothing was tested on any other kernel than this machine's"
      return 0
      ;;
    *) die "cannot understand AMBIT_LAB=$AMBIT_LAB: it is run or skip" ;;
  esac
  local chosen run started=$SECONDS
  chosen=$(choose "$@") || exit
  need_tools
  need_everything "$chosen"
  run=$LAB_DIR/logs/$(date +%Y%m%dT%H%M%S)-$$
  mkdir -p "$run"
  find "$LAB_DIR/logs" -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf {} +
  build "$run/build" "$chosen" || die "cannot build what the jobs run"
  say "set up and built in $((SECONDS - started)) s; output in $run"
  # shellcheck disable=SC2059  # the format is ours
  printf "$row_format" JOB RESULT KERNEL ABI 'BOOT s' 'ALL s' SUITES
  run_jobs "$run" "$chosen"
  rm -rf "$run/build"
  verdict "$run" "$chosen" $((SECONDS - started))
}

# choose [JOB...]: the rows of these jobs, or all but the long ones; an unknown name is an error, not an empty run.
choose() {
  local name
  if [ $# = 0 ]; then rows "$lab/jobs" | grep -v '^long-'; return; fi
  for name; do
    rows "$lab/jobs" | awk -v name="$name" '$1 == name {print; found = 1} END {exit !found}' ||
      die "cannot find the job '$name': the table $lab/jobs has$(rows "$lab/jobs" | awk '{printf " %s", $1}')"
  done
}

suites_of() { awk '{print $8}' <<<"$1" | tr ',' '\n' | sort -u; }

# build DIR ROWS: DIR/lab, which becomes /lab in the VMs, and DIR/suites.
build() {
  (
    set -e
    cd "$lab/.."
    export GOOS=linux GOARCH=amd64 CGO_ENABLED=0
    mkdir -p "$1/lab" "$1/suites"
    go build -trimpath -o "$1/lab/" ./cmd/ambit ./lab/promise
    cp "$lab/guest/job" "$1/lab/"
    for name in $(suites_of "$2"); do
      mkdir "$1/suites/$name"
      cp "$lab/suites/$name/run" "$1/suites/$name/"
      [ ! -e "$lab/suites/$name/pre" ] || cp "$lab/suites/$name/pre" "$1/suites/$name/"
      "$lab/suites/$name/build" "$1/suites/$name"
    done
  )
}

run_jobs() {
  local run=$1 row parallel
  parallel=${AMBIT_LAB_PARALLEL:-$(($(nproc) < 2 ? 1 : 2))}
  trap 'kill $(jobs -p) 2>/dev/null; wait; exit 125' INT TERM HUP
  while read -r row; do
    while [ "$(jobs -rp | wc -l)" -ge "$parallel" ]; do wait -n || true; done
    # shellcheck disable=SC2086  # the columns are the arguments
    one_job "$run" $row &
  done <<<"$2"
  wait
  trap - INT TERM HUP
}

# one_job RUN NAME KERNEL APPEND APPARMOR RELEASE ABI USERNS SUITES: boot it, leave NAME.row in RUN.
one_job() {
  local run=$1 name=$2 kernel=$3 append=${4#-} apparmor=${5#-} release=$6 abi=$7 userns=$8 suites=$9
  local layers images label=unconfined vm='' status=0 started=$SECONDS suite options=() limit=2000
  mapfile -t layers < <(layers_of "$suites")
  images=$(with_layers "${layers[@]}")
  [ ${#layers[@]} = 0 ] || options+=(--mem 3072)
  case $apparmor in run:*) label="ambit_lab_${apparmor#run:} (enforce)" ;; esac
  for suite in ${suites//,/ }; do
    options+=(--add "$run/build/suites/$suite:/lab/suites/$suite")
  done
  case ,$suites, in
    *,race,*) # an attack needs a processor beside the broker's
      options+=(--smp 2)
      limit=$((limit + 20 * ${AMBIT_LAB_RACE:-120}))
      ;;
  esac
  trap '[ -z "$vm" ] || { kill "$vm"; wait "$vm"; }; exit 125' TERM
  # shellcheck disable=SC2086  # the suites are arguments
  "$lab/steps/boot" "$(kernel_dir "$kernel")/vmlinux" "$images" "$(base_dir)/busybox" \
    --append "${append//;/ }" --apparmor "$apparmor" --timeout "$limit" --console "$run/$name.console" \
    --add "$run/build/lab/.:/lab" "${options[@]}" -- \
    /lab/promise -release "$release" -abi "$abi" -apparmor "$label" -userns "$userns" -- /lab/job ${suites//,/ } \
    >"$run/$name.out" 2>&1 &
  vm=$!
  wait $vm || status=$?
  report "$run" "$name" $status $((SECONDS - started)) "$suites" | tee "$run/$name.row"
}

# report RUN NAME STATUS SECONDS SUITES: the job's row, and on failure the end of its output, without what passed.
report() {
  local out=$1/$2.out console=$1/$2.console result=FAILED kernel abi up ended
  kernel=$(sed -n 's/^promise kept: kernel \([^,]*\),.*/\1/p' "$out")
  abi=$(sed -n 's/^promise kept: .*Landlock ABI \([0-9]*\),.*/\1/p' "$out")
  up=$(sed -n 's/.*LAB-UP \([0-9.]*\).*/\1/p' "$console")
  ended=$(sed -n 's/^LAB-SUITE \([^ ]*\) ended \([0-9]*\) \([0-9]*\).*/\1: status \2, \3 s;/p' "$out" | tr '\n' ' ')
  # a job is good if its machine was as promised and every suite of it said so itself
  if [ "$3" = 0 ] && [ -n "$kernel" ] && [ "$(grep -c '^LAB-SUITE .* ended 0 ' "$out")" = "$(tr ',' '\n' <<<"$5" | wc -l)" ]; then
    result=ok
  fi
  # shellcheck disable=SC2059  # the format is ours
  printf "$row_format" "$2" "$result" "${kernel:--}" "${abi:--}" "${up:--}" "$4" "$ended$(counts "$out")"
  [ $result = ok ] || {
    grep -avE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)' "$out" | tail -n 80 | sed 's/^/    /' || true
    grep -aE 'Out of memory|Kernel panic|BUG:|Oops' "$console" | sed 's/\r$//; s/^/    [console] /' || true
    echo "    (status $3; all of it: $out)"
  }
}

# counts OUT: what `go test -v` said, skipped tests in plain view.
counts() {
  awk '/^ *--- PASS/ {passed++} /^ *--- SKIP/ {skipped++} /^ *--- FAIL/ {failed++}
    END {if (passed + skipped + failed) printf "%d passed, %d failed, %d skipped", passed, failed, skipped}' "$1"
}

verdict() {
  local jobs good
  jobs=$(wc -l <<<"$2")
  good=$(grep -lsE '^[^ ]+ +ok ' "$1"/*.row | wc -l || true)   # grep fails if there is none
  say "$good of $jobs jobs kept their promises and passed, in $3 s"
  [ "$good" = "$jobs" ]
}
