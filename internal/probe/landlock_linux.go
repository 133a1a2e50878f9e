// SPDX-License-Identifier: Apache-2.0

package probe

import "strconv"

// landlock fills in what the kernel says of Landlock.
func (h host) landlock(f *Facts) {
	abi, err := h.landlockABI()
	f.Landlock = Result{Feature: featureIn(quickFeatures, FeatLandlock), Err: err}
	f.Landlock.Verdict, f.Landlock.Detail = landlockRefusals.judge(err)
	if err != nil {
		return
	}
	f.ABI = abi
	f.Rights = RightsOf(abi)
	f.Landlock.Detail = "ABI " + strconv.Itoa(abi)
	// A kernel that can't be asked answers EINVAL: nothing known as fixed.
	mask, err := h.landlockErrata()
	if err == nil {
		f.Errata = Errata(mask)
	}
	f.errataErr = err
}
