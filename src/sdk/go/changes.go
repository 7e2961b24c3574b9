package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"
)

// Change is an entity at the place of its newest change.
type Change struct {
	// Cursor is where to continue: the After of the next read, once the item is stored.
	Cursor string
	Type   EntityType
	// ID is the public id of the entity; for JobTitlesEntity, that of the client.
	ID       string
	ClientID string
	Removed  bool
	// ChangedAt is for people; the order is that of the items.
	ChangedAt time.Time
	// Version is replaced by each change of the entity. Digests are sums of it.
	Version int64
	// JSON is the resource as the gateway sent it, with members that this release does not know; nil if
	// the entity was removed.
	JSON json.RawMessage
}

// EntityType is one of those below, or one of a later release.
type EntityType string

const (
	ClientEntity    EntityType = "client"
	JobTitlesEntity EntityType = "jobTitles"
	LocationEntity  EntityType = "location"
	UnitEntity      EntityType = "unit"
	UnitTypeEntity  EntityType = "unitType"
	UserEntity      EntityType = "user"
	WorkerEntity    EntityType = "worker"
)

// JobTitles are those that a client uses.
type JobTitles []string

// Resource is a *TenantClient, JobTitles, *OrganizationLocation, *Unit, *UnitType, *User or *WorkerV2, by Type; nil
// if the entity was removed. For types and shapes newer than this release it is a json.RawMessage.
func (c Change) Resource() any {
	if c.JSON == nil {
		return nil
	}
	switch c.Type {
	case ClientEntity:
		return recordIn(c.JSON, &TenantClient{})
	case JobTitlesEntity:
		var titles JobTitles
		if json.Unmarshal(c.JSON, &titles) == nil {
			return titles
		}
	case LocationEntity:
		return recordIn(c.JSON, &OrganizationLocation{})
	case UnitEntity:
		return recordIn(c.JSON, &Unit{})
	case UnitTypeEntity:
		return recordIn(c.JSON, &UnitType{})
	case UserEntity:
		return recordIn(c.JSON, &User{})
	case WorkerEntity:
		return recordIn(c.JSON, &WorkerV2{})
	}
	return c.JSON
}

func recordIn(sent json.RawMessage, record any) any {
	if json.Unmarshal(sent, record) != nil {
		return sent
	}
	return record
}

// ChangesOptions may be empty.
type ChangesOptions struct {
	// After is the cursor of the last item that you stored. Empty begins with all that exists.
	After string
	// Limit is how many items at most, 1 to 1000; the gateway sends 500 at most.
	Limit int
	// Wait is how long to wait for a change if there is none, in whole seconds, up to 25 s. It is added to
	// the Timeout of the gateway.
	Wait time.Duration
}

// Changes are items of the sequence of changes.
type Changes struct {
	Items []Change
	// Cursor is where to continue: that of the last item, or your own if there are none.
	Cursor string
	// HasMore is true if more items follow already.
	HasMore bool
}

// ListChanges returns what the gateway shows of the instance, as one sequence: each entity once, at the place
// of its newest change. An *APIError with the Code CursorExpired means: begin again without After.
func (g *Gateway) ListChanges(ctx context.Context, instanceIntegrationID string, options ChangesOptions) (*Changes, error) {
	var sent []sentChange
	response, err := g.get(waiting(ctx, options.Wait), g.changesAddress(instanceIntegrationID, options), "", &sent)
	page, err := reading(sent, response, err)
	if err != nil {
		return nil, err
	}
	next := nextAddress(response)
	if next == response.Request.URL.String() {
		return nil, readError(response, errPageItself)
	}
	changes := &Changes{Items: make([]Change, 0, len(page.Data)), Cursor: options.After, HasMore: next != ""}
	for _, item := range page.Data {
		if item.Cursor == "" || item.Entity.Type == "" {
			return nil, readError(response, errors.New("an item is not a change"))
		}
		changes.Items = append(changes.Items, item.change())
		changes.Cursor = item.Cursor
	}
	return changes, nil
}

// changesAddress is not left to the generated operation, which would read each resource three times over.
func (g *Gateway) changesAddress(instanceIntegrationID string, options ChangesOptions) string {
	query := url.Values{}
	if options.After != "" {
		query.Set("after", options.After)
	}
	if options.Limit != 0 {
		query.Set("limit", strconv.Itoa(options.Limit))
	}
	if seconds := roundedUp(options.Wait); seconds != 0 {
		query.Set("wait", strconv.Itoa(seconds))
	}
	address := g.baseURL + "/v1/instance-integrations/" + url.PathEscape(instanceIntegrationID) + "/changes"
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

func roundedUp(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }

// sentChange is as the gateway writes one.
type sentChange struct {
	Change
	Entity   Entity
	Resource json.RawMessage
	// A later release may add members with these names, which must not set the fields of Change.
	ID, Type, JSON json.RawMessage
}

func (s sentChange) change() Change {
	change := s.Change
	change.Type, change.ID = EntityType(s.Entity.Type), s.Entity.ID
	if !s.Removed {
		change.JSON = s.Resource
	}
	return change
}
