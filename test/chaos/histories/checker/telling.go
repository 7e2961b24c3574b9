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
	redeemed, isShort := int64(math.MaxInt64), isWithinWindow(inOrder)
	alike := map[operation][]porcupine.Operation{}
	for _, recorded := range inOrder {
		asked := recorded.Input.(operation)
		if asked.Kind == "redeem" && asked.Outcome == granted {
			redeemed = min(redeemed, asked.Return)
		}
		what := operation{Kind: asked.Kind, Token: asked.Token, Outcome: asked.Outcome, Gives: asked.Gives}
		alike[what] = append(alike[what], recorded)
	}
	var kept []porcupine.Operation
	for what, those := range alike {
		switch {
		case what.Outcome == unknown:
			those = those[:min(len(those), tellingUnknown)]
		case isShort && what.Outcome == refused:
			those = firstRefused(those, redeemed)
		case isShort && (what.Kind == "refresh" || what.Kind == "userinfo"):
			those = outermost(those)
		}
		kept = append(kept, those...)
	}
	return kept
}

// Whether each use of a token but the newest comes so soon that no outcome depends on the time.
func isWithinWindow(inOrder []porcupine.Operation) bool {
	for _, recorded := range inOrder {
		if recorded.Return != math.MaxInt64 && recorded.Return-inOrder[0].Call > retryWindow-clockError {
			return false
		}
	}
	return true
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
// one called last stand in for all: each of the others can go between them.
func outermost(inOrder []porcupine.Operation) []porcupine.Operation {
	last := inOrder[len(inOrder)-1]
	first := slices.MinFunc(inOrder, func(one, other porcupine.Operation) int { return cmp.Compare(one.Return, other.Return) })
	if first == last {
		return inOrder[len(inOrder)-1:]
	}
	return []porcupine.Operation{first, last}
}
