// SPDX-License-Identifier: Apache-2.0

package broker

func callTable() map[int32]call { return commonCalls() }
