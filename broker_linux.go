// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"github.com/ambit-sandbox/ambit/internal/broker"
	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/launch"
)

// brokering is the broker of one run, if it needs one.
type brokering struct {
	broker *broker.Broker
	scope  *broker.Scope
	served chan error
}

// serveBroker has the launch start the broker as soon as there is a listener.
func (r *runner) serveBroker(req *launch.Request) (*brokering, error) {
	b := &brokering{}
	if !r.confined.Brokered {
		return b, nil
	}
	if r.confined.Abstract {
		var err error
		if b.scope, err = broker.NewScope(int(r.confined.Guard.Fd())); err != nil {
			return nil, setupError(r.choice.Backend.Name(), err)
		}
		req.Thread, req.Guard, req.Spec.Guard = b.scope.Do, nil, child.InheritGuard
	}
	req.Listener = func(fd, launcher int) error {
		var err error
		b.broker, err = broker.New(fd, broker.Options{
			Tree: r.plan.Tree, Network: r.plan.Network, Guard: launcher, Scope: b.scope,
		})
		if err != nil {
			return err
		}
		b.served = make(chan error, 1)
		go func() { b.served <- b.broker.Serve() }()
		return nil
	}
	return b, nil
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
	}
	if b.scope != nil {
		b.scope.Close()
	}
}
