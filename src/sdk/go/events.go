package sdk

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is the content of a webhook. Data points to one of the Data types below, by Type; for types and
// shapes newer than this release it is a json.RawMessage. Answer 2xx to those too.
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

const (
	ClientCreated               EventType = "client.created"
	UserCreated                 EventType = "user.created"
	UserUpdated                 EventType = "user.updated"
	WorkerOnboarded             EventType = "worker.onboarded"
	WorkerUpdated               EventType = "worker.updated"
	OrganizationUnitCreated     EventType = "organization_unit.created"
	OrganizationUnitTypeCreated EventType = "organization_unit_type.created"
	OrganizationLocationCreated EventType = "organization_location.created"
	OrganizationLocationDeleted EventType = "organization_location.deleted"
)

// Links locate the current state: Self is a path at the gateway.
type Links struct {
	Self string `json:"self"`
}

// NamedUnitType is a layer of the organization structure.
type NamedUnitType struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ClientCreatedData belongs to ClientCreated.
type ClientCreatedData struct {
	ClientID string  `json:"clientId"`
	Name     string  `json:"name"`
	Address  Address `json:"address"`
	Links    Links   `json:"links"`
}

// UserData belongs to UserCreated and UserUpdated.
type UserData struct {
	UserID    string       `json:"userId"`
	ClientID  string       `json:"clientId"`
	Email     string       `json:"email"`
	FirstName *string      `json:"firstName"`
	LastName  *string      `json:"lastName"`
	FullName  *string      `json:"fullName"`
	Status    UserStatus   `json:"status"`
	Manager   *UserManager `json:"manager"`
	Role      *UserRole    `json:"role"`
	CreatedAt time.Time    `json:"createdAt"`
	Links     Links        `json:"links"`
}

// WorkerData belongs to WorkerOnboarded and WorkerUpdated.
type WorkerData struct {
	WorkerID             string         `json:"workerId"`
	ClientID             string         `json:"clientId"`
	FirstName            string         `json:"firstName"`
	LastName             string         `json:"lastName"`
	FullName             string         `json:"fullName"`
	Email                string         `json:"email"`
	Phone                *string        `json:"phone"`
	JobTitles            []string       `json:"jobTitles"`
	Location             Address        `json:"location"`
	OrganizationUnits    []NamedUnit    `json:"organizationUnits"`
	OrganizationUnit     *NamedUnit     `json:"organizationUnit"`
	OrganizationLocation *NamedLocation `json:"organizationLocation"`
	// OffboardedAt is nil unless the worker was offboarded.
	OffboardedAt *time.Time `json:"offboardedAt"`
	CreatedAt    time.Time  `json:"createdAt"`
	Links        Links      `json:"links"`
}

// OrganizationUnitCreatedData belongs to OrganizationUnitCreated.
type OrganizationUnitCreatedData struct {
	OrganizationUnitID string        `json:"organizationUnitId"`
	ClientID           string        `json:"clientId"`
	Name               string        `json:"name"`
	UnitCode           *string       `json:"unitCode"`
	Description        *string       `json:"description"`
	UnitType           NamedUnitType `json:"unitType"`
	ParentUnit         *NamedUnit    `json:"parentUnit"`
	CreatedAt          time.Time     `json:"createdAt"`
	Links              Links         `json:"links"`
}

// EmbeddedUnit was created together with its type.
type EmbeddedUnit struct {
	OrganizationUnitID string     `json:"organizationUnitId"`
	Name               string     `json:"name"`
	UnitCode           *string    `json:"unitCode"`
	Description        *string    `json:"description"`
	ParentUnit         *NamedUnit `json:"parentUnit"`
}

// OrganizationUnitTypeCreatedData belongs to OrganizationUnitTypeCreated.
type OrganizationUnitTypeCreatedData struct {
	OrganizationUnitTypeID string         `json:"organizationUnitTypeId"`
	ClientID               string         `json:"clientId"`
	Name                   string         `json:"name"`
	Units                  []EmbeddedUnit `json:"units"`
	CreatedAt              time.Time      `json:"createdAt"`
	Links                  Links          `json:"links"`
}

// OrganizationLocationData belongs to OrganizationLocationCreated and OrganizationLocationDeleted.
type OrganizationLocationData struct {
	OrganizationLocationID string    `json:"organizationLocationId"`
	ClientID               string    `json:"clientId"`
	Name                   string    `json:"name"`
	Address                Address   `json:"address"`
	CreatedAt              time.Time `json:"createdAt"`
	// DeletedAt is nil unless the location was deleted.
	DeletedAt *time.Time `json:"deletedAt"`
	Links     Links      `json:"links"`
}

func newData(eventType EventType) any {
	switch eventType {
	case ClientCreated:
		return &ClientCreatedData{}
	case UserCreated, UserUpdated:
		return &UserData{}
	case WorkerOnboarded, WorkerUpdated:
		return &WorkerData{}
	case OrganizationUnitCreated:
		return &OrganizationUnitCreatedData{}
	case OrganizationUnitTypeCreated:
		return &OrganizationUnitTypeCreatedData{}
	case OrganizationLocationCreated, OrganizationLocationDeleted:
		return &OrganizationLocationData{}
	}
	return nil
}

func eventIn(body []byte) (*Event, error) {
	var sent json.RawMessage
	event := &Event{Data: &sent}
	if err := json.Unmarshal(body, event); err != nil {
		return nil, err
	}
	if event.ID == "" || event.Type == "" {
		return nil, fmt.Errorf("there is no id or no type")
	}
	// Earlier releases of the service sent none; the present one sends the time in its place.
	if event.Sequence == 0 {
		event.Sequence = event.OccurredAt.UnixMilli()
	}
	event.Data = sent
	if data := newData(event.Type); data != nil && json.Unmarshal(sent, data) == nil {
		event.Data = data
	}
	return event, nil
}
