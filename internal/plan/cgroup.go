// SPDX-License-Identifier: Apache-2.0

package plan

// Cgroup is what a run's control group bounds.
type Cgroup struct{ Memory, Processes, CPU bool }
