// SPDX-License-Identifier: Apache-2.0

package landlock

// filesInStore is how many files are kept for each file system: one for each
// file that the command makes beside a place that may not be read, and then
// executes. Each costs every run with such a place a file without a name, a
// rule and a descriptor.
const filesInStore = 32
