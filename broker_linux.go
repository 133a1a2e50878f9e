// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"github.com/ambit-sandbox/ambit/internal/broker"
	"github.com/ambit-sandbox/ambit/internal/launch"
)

// brokering is the broker of one run, if it needs one.
type brokering struct {
	broker *broker.Broker
	served chan error
	files  bool // it serves calls on files
}

// serveBroker has the launch start the broker as soon as there is a listener.
func (r *runner) serveBroker(req *launch.Request) *brokering {
	b := &brokering{files: r.confined.Files != nil}
	if !r.confined.Brokered {
		return b
	}
	var scope *broker.Scope
	if r.guard != nil {
		scope = r.guard.Scope
	}
	req.Listener = func(fd, launcher int) error {
		var err error
		b.broker, err = broker.New(fd, broker.Options{
			Tree: r.plan.Tree, Network: r.plan.Network, Guard: launcher, Scope: scope, Files: r.confined.Files, Filter: r.confined.FilterConfig,
		})
		if err != nil {
			return err
		}
		b.served = make(chan error, 1)
		go func() { b.served <- b.broker.Serve() }()
		return b.broker.Ready()
	}
	return b
}

// stop ends the broker after the run and records what it refused. A fault of
// the broker itself does not change how the command ended: the calls it
// concerned were refused.
func (b *brokering) stop(receipt *Receipt) {
	if b.broker != nil {
		_ = b.broker.Close()
		if err := <-b.served; err != nil {
			receipt.BrokerFault = err.Error()
		}
		receipt.Denials, receipt.DenialsDropped = b.broker.Denials()
		handed, continued := b.broker.Calls()
		receipt.Brokered = &Brokered{Handed: handed, Kernel: continued, Answered: handed - continued, Files: b.files}
	}
}
