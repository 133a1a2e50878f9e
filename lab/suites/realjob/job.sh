#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What an agent does with a project, in the sandbox. The working directory is the project, a git repository.
set -euo pipefail
step() { echo "realjob: $* (after $SECONDS s)"; }

step git
git init -q .
git add .
git commit -q -m 'first'
echo 'A line that was added.' >>NOTES
git mv check.py verify.py
git add NOTES
[ "$(git status --short | wc -l)" = 2 ]
git commit -q -m 'second'
git checkout -q -b topic HEAD~1
git checkout -q main
git gc -q
[ "$(git rev-list --count HEAD)" = 2 ]

step make
make -s
[ "$(cat out/result)" = 6 ]
make -s -q out/result
make -s clean

step python
python3 verify.py

step go build
go build -o count ./cmd/count
[ "$(./count to be or not to be)" = 4 ]

step go test
go test ./...
step end
