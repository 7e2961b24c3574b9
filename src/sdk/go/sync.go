package sdk

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// leastPause is for where something changes all the time: reads at once would use up the rate limit.
	leastPause        = time.Second
	longestPause      = time.Minute
	longestRetryAfter = time.Hour
	// mostClientsInSlice is for the rate limit too: a digest is a request for each client.
	mostClientsInSlice = 200
	sliceEvery         = time.Minute
	// locked is the message of SQLite, over each driver, while another program reads or writes the file.
	locked = "database is locked"
	// mostComparisons limits how often a client that keeps changing is compared again.
	mostComparisons = 5
	// firstDoublings make pauses go on where those of a read's retries end.
	firstDoublings = 3
)

// Difference is what a store and the gateway do not agree on: the entities of one type of a client.
type Difference struct {
	ClientID string
	Type     EntityType
	// Count and Digest are what the gateway has.
	Count, Digest int64
	// StoredCount and StoredDigest are what the store has.
	StoredCount, StoredDigest int64
}

// SyncOptions may be empty.
type SyncOptions struct {
	// Wait is how long the gateway may hold a read until something changes, in whole seconds, up to 25 s, the
	// default. A negative one asks without a wait.
	Wait time.Duration
	// Pause is the least time between two reads that find nothing. The default is 1 s, or 1 min if Wait is
	// negative. After a read that finds something, and after Wake, it is 1 s at most.
	Pause time.Duration
	// CompareEvery is how long after a comparison with the gateway's digests the next one begins. The default is 1 h.
	CompareEvery time.Duration
	// OnChanges is called when changes are stored. It is not a feed: it is told neither of removals that reading
	// all again finds, nor, after an end of the program, of what was stored just before. The store has both.
	OnChanges func([]Change)
	// OnDifference is called when the store differs from the gateway, before all is read again.
	OnDifference func([]Difference)
	// OnUndecided is called when a comparison proved nothing, because these clients kept changing.
	OnUndecided func(clientIDs []string)
	// OnError is called when a read has failed in spite of its retries, before it is tried again.
	OnError func(error)
}

// Sync keeps a store equal to what the gateway shows of an instance. Only the store has state: however a Sync
// ends, a new one with the same store continues. Run and CatchUp belong to one goroutine, Wake to any.
type Sync struct {
	gateway *Gateway
	id      string
	store   Store
	options SyncOptions
	woken   chan struct{}
	// anew means that the next read begins anew, with the store as it is.
	anew bool
	// complete means that the store has all that there was at the last read.
	complete bool
	// comparedAt is when the last comparison ended.
	comparedAt time.Time
	// toCompare has the clients that a comparison, which goes over them in slices, has not compared yet.
	toCompare   map[string]bool
	nextSliceAt time.Time
	// beganAt is when the last round began.
	beganAt time.Time
}

// Sync keeps a copy of the instance in a store, once it is Run.
func (g *Gateway) Sync(instanceIntegrationID string, store Store, options SyncOptions) *Sync {
	options.Wait = max(0, cmp.Or(options.Wait, 25*time.Second))
	usualPause := time.Second
	if options.Wait == 0 {
		usualPause = time.Minute
	}
	options.Pause = cmp.Or(options.Pause, usualPause)
	options.CompareEvery = cmp.Or(options.CompareEvery, time.Hour)
	return &Sync{gateway: g, id: instanceIntegrationID, store: store, options: options, woken: make(chan struct{}, 1)}
}

// Run loads what the store lacks, then follows until the context ends, and returns its error. Failures that may
// pass, and a file that another program has locked, are waited out without limit. It returns other failures, such
// as an unknown API key, and other errors of the store.
func (s *Sync) Run(ctx context.Context) error {
	for failures := 0; ctx.Err() == nil; {
		err := s.round(ctx)
		if err == nil {
			failures = 0
			continue
		}
		if ctx.Err() != nil {
			break
		}
		if !mayPassLater(err) {
			return err
		}
		if s.options.OnError != nil {
			s.options.OnError(err)
		}
		// Not ended by a wake: webhooks arrive also while the gateway is overloaded.
		if err := pause(ctx, s.pauseAfter(err, failures)); err != nil {
			return err
		}
		failures++
	}
	return ctx.Err()
}

// CatchUp reads what the store lacks, compares if it is time to, and ends. With more than 200 clients it takes a
// minute for each further 200.
func (s *Sync) CatchUp(ctx context.Context) error {
	_, err := s.readAndCompare(ctx, 0)
	for err == nil && len(s.toCompare) > 0 {
		if err = pause(ctx, time.Until(s.nextSliceAt)); err == nil {
			_, err = s.readAndCompare(ctx, 0)
		}
	}
	return err
}

// Wake ends a pause, so that the next read is within a second: call it when a webhook arrives.
func (s *Sync) Wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func (s *Sync) round(ctx context.Context) error {
	if err := pause(ctx, min(leastPause, s.options.Pause)-time.Since(s.beganAt)); err != nil {
		return err
	}
	s.beganAt = time.Now()
	changed, err := s.readAndCompare(ctx, s.options.Wait)
	if err != nil {
		return err
	}
	if len(changed) == 0 {
		nextAt := s.beganAt.Add(s.options.Pause)
		if len(s.toCompare) > 0 && s.nextSliceAt.Before(nextAt) {
			nextAt = s.nextSliceAt
		}
		s.pause(ctx, time.Until(nextAt))
	}
	return nil
}

// readAndCompare returns the clients of which something changed.
func (s *Sync) readAndCompare(ctx context.Context, wait time.Duration) (map[string]bool, error) {
	changed, err := s.readToEnd(ctx, wait)
	if err == nil && s.isToCompare() {
		err = s.compareSlice(ctx)
	}
	return changed, err
}

// readToEnd returns the clients of which something changed.
func (s *Sync) readToEnd(ctx context.Context, wait time.Duration) (map[string]bool, error) {
	changed := map[string]bool{}
	for {
		page, err := s.readPage(ctx, wait)
		if err != nil {
			return nil, err
		}
		for _, change := range page.Items {
			changed[change.ClientID] = true
		}
		if !page.HasMore {
			return changed, nil
		}
	}
}

func (s *Sync) readPage(ctx context.Context, wait time.Duration) (*Changes, error) {
	after := ""
	if !s.anew {
		var err error
		if after, err = s.store.Cursor(ctx); err != nil {
			return nil, err
		}
	}
	if !s.complete {
		wait = 0
	}
	page, err := s.gateway.ListChanges(ctx, s.id, ChangesOptions{After: after, Wait: wait})
	if after != "" && hasCode(err, CursorExpired) {
		s.beginAnew()
		return &Changes{HasMore: true}, nil
	}
	if err != nil {
		return nil, err
	}
	if len(page.Items) > 0 || !s.complete {
		batch := Batch{Changes: page.Items, After: after, Cursor: page.Cursor, First: after == "", Last: !page.HasMore}
		if err := s.store.Apply(ctx, batch); err != nil {
			return nil, err
		}
	}
	s.anew = false
	s.complete = !page.HasMore
	if len(page.Items) > 0 && s.options.OnChanges != nil {
		s.options.OnChanges(page.Items)
	}
	return page, nil
}

func (s *Sync) beginAnew() {
	s.anew = true
	s.complete = false
}

func (s *Sync) isToCompare() bool {
	if len(s.toCompare) > 0 {
		return time.Until(s.nextSliceAt) <= 0
	}
	return s.comparedAt.IsZero() || time.Since(s.comparedAt) >= s.options.CompareEvery
}

// compareSlice leaves the clients that were not equal yet to the next slice, if it fails.
func (s *Sync) compareSlice(ctx context.Context) error {
	s.nextSliceAt = time.Now().Add(sliceEvery)
	if len(s.toCompare) == 0 {
		var err error
		if s.toCompare, err = s.clients(ctx); err != nil {
			return err
		}
	}
	slice := map[string]bool{}
	for clientID := range s.toCompare {
		if len(slice) < mostClientsInSlice {
			slice[clientID] = true
		}
	}
	found, err := s.reportDifferences(ctx, slice)
	if err != nil {
		return err
	}
	if found {
		s.beginAnew()
		if _, err := s.readToEnd(ctx, 0); err != nil {
			return err
		}
		// What differs even now is reported, and read again when it is time for the next comparison.
		maps.DeleteFunc(slice, func(clientID string, _ bool) bool { return !s.toCompare[clientID] })
		if _, err := s.reportDifferences(ctx, slice); err != nil {
			return err
		}
	}
	for clientID := range slice {
		delete(s.toCompare, clientID)
	}
	if len(s.toCompare) == 0 {
		s.comparedAt = time.Now()
	}
	return nil
}

func (s *Sync) reportDifferences(ctx context.Context, clients map[string]bool) (bool, error) {
	differences, err := s.differences(ctx, clients)
	if len(differences) > 0 && s.options.OnDifference != nil {
		s.options.OnDifference(differences)
	}
	return len(differences) > 0, err
}

// differences returns what two comparisons find alike, if no change of the client is read between them. One
// comparison proves nothing: what it counted may have changed since, and cannot always be read at once.
func (s *Sync) differences(ctx context.Context, clients map[string]bool) ([]Difference, error) {
	found, err := s.compare(ctx, clients)
	for count := 1; err == nil && len(found) > 0 && count < mostComparisons; count++ {
		changed, failure := s.readToEnd(ctx, s.options.Wait)
		if failure != nil {
			return nil, failure
		}
		clients = map[string]bool{}
		for _, difference := range found {
			clients[difference.ClientID] = true
		}
		var again, certain []Difference
		again, err = s.compare(ctx, clients)
		for _, difference := range again {
			if !changed[difference.ClientID] && slices.Contains(found, difference) {
				certain = append(certain, difference)
			}
		}
		if err == nil && len(certain) > 0 {
			return certain, nil
		}
		found = again
	}
	if err == nil && len(found) > 0 && s.options.OnUndecided != nil {
		s.options.OnUndecided(clientsIn(found))
	}
	return nil, err
}

func clientsIn(differences []Difference) []string {
	var ids []string
	for _, difference := range differences {
		if !slices.Contains(ids, difference.ClientID) {
			ids = append(ids, difference.ClientID)
		}
	}
	return ids
}

func (s *Sync) compare(ctx context.Context, clients map[string]bool) ([]Difference, error) {
	stored, err := s.store.Digests(ctx)
	if err != nil {
		return nil, err
	}
	var differences []Difference
	for clientID := range clients {
		expected, err := s.digestOf(ctx, clientID)
		if err != nil {
			return nil, err
		}
		found := differencesOf(clientID, expected, stored)
		if len(found) == 0 {
			delete(s.toCompare, clientID)
		}
		differences = append(differences, found...)
	}
	return differences, nil
}

func (s *Sync) clients(ctx context.Context) (map[string]bool, error) {
	present, err := s.gateway.ListClients(ctx, s.id)
	if err != nil {
		return nil, err
	}
	stored, err := s.store.Digests(ctx)
	if err != nil {
		return nil, err
	}
	clients := map[string]bool{}
	for _, client := range present {
		clients[client.Id] = true
	}
	for _, digest := range stored {
		clients[digest.ClientID] = true
	}
	return clients, nil
}

func (s *Sync) digestOf(ctx context.Context, clientID string) ([]EntityDigest, error) {
	digest, err := s.gateway.GetChangesDigest(ctx, s.id, clientID)
	if hasCode(err, "client_not_found") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return digest.Entities, nil
}

func differencesOf(clientID string, expected []EntityDigest, stored []StoredDigest) []Difference {
	byType := map[EntityType]Difference{}
	for _, digest := range expected {
		entityType := EntityType(digest.Type)
		byType[entityType] = Difference{ClientID: clientID, Type: entityType, Count: digest.Count, Digest: digest.Digest}
	}
	for _, digest := range stored {
		if digest.ClientID != clientID {
			continue
		}
		both := byType[digest.Type]
		both.ClientID, both.Type = clientID, digest.Type
		both.StoredCount, both.StoredDigest = digest.Count, digest.Digest
		byType[digest.Type] = both
	}
	var differences []Difference
	for _, both := range byType {
		if both.Count != both.StoredCount || both.Digest != both.StoredDigest {
			differences = append(differences, both)
		}
	}
	return differences
}

func hasCode(err error, code string) bool {
	var api *APIError
	return errors.As(err, &api) && api.Code == code
}

func mayPassLater(err error) bool {
	var api *APIError
	if errors.As(err, &api) {
		return api.Status == http.StatusRequestTimeout || api.Status == http.StatusTooManyRequests ||
			api.Status >= http.StatusInternalServerError || api.Code == UnexpectedResponse
	}
	var lost *ConnectionError
	var late *TimeoutError
	return errors.As(err, &lost) || errors.As(err, &late) || strings.Contains(err.Error(), locked)
}

func (s *Sync) pauseAfter(err error, failures int) time.Duration {
	// Pauses also if retries are configured without a pause: a lasting failure would keep the processor busy.
	base := cmp.Or(s.gateway.retry.BaseDelay, DefaultRetry.BaseDelay)
	longest := min(longestPause, base<<min(failures+firstDoublings, 20))
	delay := time.Duration(float64(longest) * (0.5 + rand.Float64()/2))
	if _, asked := statusOf(err); asked != nil {
		delay = max(delay, time.Duration(float64(min(longestRetryAfter, *asked))*(1+rand.Float64()/10)))
	}
	return delay
}

func (s *Sync) pause(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.woken:
	case <-timer.C:
	}
}
