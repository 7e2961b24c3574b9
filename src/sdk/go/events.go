package sdk

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is the content of a webhook. Data points to one of the Data types below, by Type; for types and
// versions newer than this release it is a json.RawMessage. Answer 2xx to those too. Of an envelope that this
// release cannot read, only ID, Type, Test and Data are set.
type Event struct {
	// ID is for deduplication: an event can arrive more than once.
	ID          string
	Type        EventType
	SpecVersion int
	DataVersion int
	OccurredAt  time.Time
	// Sequence orders the events of one entity: the newer has the greater.
	Sequence int64
	// Test is true for a test event: nothing happened.
	Test   bool
	Entity Entity
	Data   any
}

// Entity is the subject of an event.
type Entity struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// EventType is one of those below, or one of a later release.
type EventType string

// Links locate the current state: Self is a path at the gateway.
type Links struct {
	Self string `json:"self"`
}

func eventIn(body []byte) (*Event, error) {
	var sent struct {
		ID   string
		Type EventType
		Test any
		Data json.RawMessage
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return nil, err
	}
	if sent.ID == "" || sent.Type == "" {
		return nil, fmt.Errorf("there is no id or no type")
	}
	event := &Event{Data: new(json.RawMessage)}
	if json.Unmarshal(body, event) != nil {
		event = &Event{} // The envelope of a later release.
	}
	event.ID, event.Type, event.Test, event.Data = sent.ID, sent.Type, sent.Test == true, sent.Data
	// Earlier releases of the service sent none; the present one sends the time in its place.
	if event.Sequence == 0 && !event.OccurredAt.IsZero() {
		event.Sequence = event.OccurredAt.UnixMilli()
	}
	// Data of a later version could be decoded too, into a record with empty fields.
	isOfThisRelease := event.SpecVersion == 1 && event.DataVersion == 1
	if data := newData(event.Type); isOfThisRelease && data != nil && json.Unmarshal(sent.Data, data) == nil {
		event.Data = data
	}
	return event, nil
}
