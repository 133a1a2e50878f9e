// SPDX-License-Identifier: Apache-2.0

package broker

// legacyFileCalls: this architecture has none of them.
func legacyFileCalls() []fileCall { return nil }
