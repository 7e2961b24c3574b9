package main

import "github.com/anishathalye/porcupine"

const (
	granted = "granted"
	refused = "refused"
	unknown = "unknown"
)

const (
	second = int64(1_000_000)
	// How long after its rotation a token gets the same successor again.
	retryWindow = 60 * second
	// The service reads its clock in milliseconds, and another clock than the one of the history.
	clockError = second / 2
)

// An operation of a client, with its times in microseconds.
type operation struct {
	Family  string `json:"family"`
	Client  int    `json:"client"`
	Kind    string `json:"kind"`
	Token   string `json:"token"`
	Call    int64  `json:"call"`
	Return  int64  `json:"return"`
	Outcome string `json:"outcome"`
	// The refresh token in the answer.
	Gives string `json:"gives"`
}

func (o operation) isKnown() bool {
	_, ok := steps[o.Kind]
	return ok && (o.Outcome == granted || o.Outcome == refused || o.Outcome == unknown)
}

// A family is an authorization code and the refresh tokens that follow from it, as the service has them.
type family struct {
	redeemed bool
	revoked  bool
	// The refresh token that is good. Empty until an answer shows it: that to its rotation may be lost.
	newest string
	// The one before it.
	spent string
	// The operation in which it was spent took place between these times.
	spentFrom, spentUntil int64
}

// Each says whether the outcome is right in this state, and what the state is then. An unknown outcome is always
// right: if the operation never happened, it can take its place behind all others, where it changes nothing.
var steps = map[string]func(family, operation) (bool, family){
	"redeem":   redeem,
	"refresh":  refresh,
	"userinfo": userinfo,
	"revoke":   revoke,
}

var model = porcupine.Model{
	Init: func() interface{} { return family{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		asked := input.(operation)
		return steps[asked.Kind](state.(family), asked)
	},
}

// A code is good once. A repetition ends what it had given.
func redeem(f family, asked operation) (bool, family) {
	if f.redeemed {
		return asked.Outcome != granted, f.ended()
	}
	return asked.Outcome != refused, family{redeemed: true, newest: asked.Gives}
}

// A refresh token is good until its successor is made, and that again for a lost answer, for a short time and while the
// successor is unused. Any other use of an older one ends the family.
func refresh(f family, asked operation) (bool, family) {
	switch {
	case !f.redeemed || f.revoked:
		return asked.Outcome != granted, f
	case asked.Token == f.newest:
		f.spent, f.spentFrom, f.spentUntil = asked.Token, asked.Call, asked.Return
		f.newest = asked.Gives
		return asked.Outcome != refused, f
	case asked.Token == f.spent && asked.Outcome == granted:
		isSame := f.newest == "" || f.newest == asked.Gives
		f.newest = asked.Gives
		isRight := isSame && f.mayRepeat(asked)
		// The rotation itself may have no answer.
		f.spentUntil = min(f.spentUntil, asked.Return)
		return isRight, f
	case asked.Token == f.spent && f.mustRepeat(asked):
		return asked.Outcome != refused, f
	default:
		return asked.Outcome != granted, f.ended()
	}
}

func userinfo(f family, asked operation) (bool, family) {
	isGood := f.redeemed && !f.revoked
	return asked.Outcome == unknown || isGood == (asked.Outcome == granted), f
}

// Of a token that is over, too.
func revoke(f family, asked operation) (bool, family) {
	return asked.Outcome != refused, f.ended()
}

func (f family) ended() family {
	f.revoked = true
	return f
}

// Whether the operation can have taken place within the window.
func (f family) mayRepeat(asked operation) bool {
	return asked.Call-f.spentUntil <= retryWindow+clockError
}

// Whether it cannot have taken place outside.
func (f family) mustRepeat(asked operation) bool {
	return asked.Return-f.spentFrom <= retryWindow-clockError
}
