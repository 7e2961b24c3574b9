package main

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"integration.example.com/sdk"
)

// course is a sync, and what there is to tell when it has ended.
type course struct {
	sync        *sdk.Sync
	memory      *sdk.MemoryStore
	differences []object
	failures    []any
	end         context.CancelFunc
	ended       chan error
}

var present *course

func synced(given command) (any, error) {
	switch given.Method {
	case "wake":
		present.sync.Wake()
		return nil, nil
	case "pass":
		pass(reflect.ValueOf(present.sync), seconds(given.Parameters.Seconds))
		return nil, nil
	case "stop":
		present.end()
		return present.report(), nil
	case "ended":
		return present.report(), nil
	}
	if given.Method == "again" {
		present.follow(present.sync.Run)
		return nil, nil
	}
	begun, err := newCourse(given)
	if err != nil {
		return nil, err
	}
	switch given.Method {
	case "catchUp":
		begun.ended <- begun.sync.CatchUp(context.Background())
		return begun.report(), nil
	case "startCatchUp":
		begun.follow(begun.sync.CatchUp)
	default:
		begun.follow(begun.sync.Run)
	}
	present = begun
	return nil, nil
}

func (c *course) follow(method func(context.Context) error) {
	ctx, end := context.WithCancel(context.Background())
	c.end = end
	go func() {
		err := method(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			say(object{"failure": told(err)})
		}
		c.ended <- err
	}()
}

// pass moves back all times that what is pointed to has noted: nothing can put the clock of Go forward.
func pass(pointer reflect.Value, passed time.Duration) {
	members := pointer.Elem()
	for index := range members.NumField() {
		member := members.Field(index)
		noted, isTime := reflect.NewAt(member.Type(), unsafe.Pointer(member.UnsafeAddr())).Interface().(*time.Time)
		if isTime && !noted.IsZero() {
			*noted = noted.Add(-passed)
		}
	}
}

func newCourse(given command) (*course, error) {
	gateway, err := given.Options.gateway()
	if err != nil {
		return nil, err
	}
	begun := &course{differences: []object{}, failures: []any{}, ended: make(chan error, 1)}
	store, err := begun.storeNamed(given.Parameters.Store)
	if err != nil {
		return nil, err
	}
	begun.sync = gateway.Sync(given.Args[0], store, begun.options(given.Parameters))
	return begun, nil
}

func (c *course) storeNamed(name string) (sdk.Store, error) {
	if name == "memory" {
		c.memory = &sdk.MemoryStore{}
		return c.memory, nil
	}
	database, err := sql.Open("sqlite-process", name)
	if err != nil {
		return nil, err
	}
	return sdk.NewSQLiteStore(context.Background(), database)
}

func (c *course) options(p parameters) sdk.SyncOptions {
	options := sdk.SyncOptions{
		Pause: seconds(p.PauseSeconds),
		OnDifference: func(differences []sdk.Difference) {
			found := []object{}
			for _, d := range differences {
				found = append(found, object{
					"clientId": d.ClientID, "type": d.Type, "count": d.Count, "digest": d.Digest,
					"storedCount": d.StoredCount, "storedDigest": d.StoredDigest,
				})
			}
			say(object{"differences": found})
			c.differences = append(c.differences, found...)
		},
		OnUndecided: func(ids []string) {
			c.failures = append(c.failures, "undecided: "+strings.Join(ids, ","))
		},
		OnError: func(err error) { c.failures = append(c.failures, told(err)["name"]) },
	}
	// In Go, none is another value than the usual.
	if p.WaitSeconds != nil {
		options.Wait = max(seconds(*p.WaitSeconds), -1)
		if *p.WaitSeconds == 0 {
			options.Wait = -1
		}
	}
	if p.CompareSeconds != nil {
		options.CompareEvery = max(seconds(*p.CompareSeconds), 1)
	}
	return options
}

func (c *course) report() object {
	var failure any
	if err := <-c.ended; err != nil && !errors.Is(err, context.Canceled) {
		failure = told(err)
	}
	report := object{"failure": failure, "differences": c.differences, "errors": c.failures, "entities": nil}
	if c.memory != nil {
		report["entities"] = items(c.memory.All())
	}
	return report
}
