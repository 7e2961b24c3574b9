package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Unanswered operations of one kind change the state at most twice for a token, which no service hands out again: one
// spends it, one ends the family. The two called first can stand in for any, because an earlier call only allows more.
// The rest can go last, where any outcome is right.
const tellingUnknown = 2

// The operations that decide the verdict: dozens that say the same, at once, would make the search too long.
func telling(operations []porcupine.Operation) []porcupine.Operation {
	inOrder := slices.Clone(operations)
	slices.SortStableFunc(inOrder, func(one, other porcupine.Operation) int { return cmp.Compare(one.Call, other.Call) })
	redeemed := int64(math.MaxInt64)
	alike := map[likeness][]porcupine.Operation{}
	for _, recorded := range inOrder {
		asked := recorded.Input.(operation)
		if asked.Kind == "redeem" && asked.Outcome == granted {
			redeemed = min(redeemed, asked.Return)
		}
		// The time decides only about refresh tokens, and only where the first of these operations is that long ago.
		isLate := asked.Kind == "refresh" && asked.Outcome != unknown &&
			recorded.Return-inOrder[0].Call > retryWindow-clockError
		what := likeness{asked.Kind, asked.Token, asked.Outcome, asked.Gives, isLate}
		alike[what] = append(alike[what], recorded)
	}
	var kept []porcupine.Operation
	for what, those := range alike {
		switch {
		case what.outcome == unknown:
			those = those[:min(len(those), tellingUnknown)]
		case what.isLate:
		case what.outcome == refused:
			those = firstRefused(those, redeemed)
		case what.kind == "userinfo" || what.kind == "refresh":
			those = outermost(those)
		}
		kept = append(kept, those...)
	}
	return kept
}

// Operations that are equal in these say the same.
type likeness struct {
	kind, token, outcome, gives string
	isLate                      bool
}

// A refusal behind the redemption says that the family is over, or ends it. So one that was called and answered before
// another can stand in for it: the other can go behind it.
func firstRefused(inOrder []porcupine.Operation, redeemed int64) []porcupine.Operation {
	var kept []porcupine.Operation
	earliest := int64(math.MaxInt64)
	for _, recorded := range inOrder {
		if recorded.Call <= redeemed {
			kept = append(kept, recorded)
		} else if recorded.Return < earliest {
			earliest = recorded.Return
			kept = append(kept, recorded)
		}
	}
	return kept
}

// Nothing changes between two equal grants, because the later one would be refused. So the one answered first and the
// one called last stand in for all: each of the others can go between them. The one called first can stand in for the
// one that spent the token, and the one answered first shows that it was spent by then: late uses depend on both.
func outermost(inOrder []porcupine.Operation) []porcupine.Operation {
	calledFirst, calledLast := inOrder[0], inOrder[len(inOrder)-1]
	answeredFirst := slices.MinFunc(inOrder, func(one, other porcupine.Operation) int { return cmp.Compare(one.Return, other.Return) })
	var kept []porcupine.Operation
	for _, recorded := range []porcupine.Operation{calledFirst, answeredFirst, calledLast} {
		if !slices.Contains(kept, recorded) {
			kept = append(kept, recorded)
		}
	}
	return kept
}
