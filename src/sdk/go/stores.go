package sdk

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// Batch is a part of the sequence of changes, to be stored as a whole.
type Batch struct {
	// Changes each replace the stored entity; a removal deletes it.
	Changes []Change
	// After is the cursor from which the batch continues; empty for the first.
	After string
	// Cursor is to be stored with the changes.
	Cursor string
	// First means that the sequence begins anew. Keep the stored entities until the last batch.
	First bool
	// Last means that the sequence was read to its end: delete the entities that have not come since the first batch.
	Last bool
}

// StoredDigest is what a store has of one type of a client's entities.
type StoredDigest struct {
	ClientID string
	Type     EntityType
	Count    int64
	// Digest is the sum of their versions, modulo 2^52.
	Digest int64
}

// Store keeps a copy of what one instance integration reads.
type Store interface {
	// Cursor is that of the last batch; empty before there is one.
	Cursor(ctx context.Context) (string, error)
	// Apply is one transaction: the whole batch with its cursor, or nothing. It ignores a batch that is not
	// the first and continues from another cursor than the store has: another process has stored more.
	Apply(ctx context.Context, batch Batch) error
	// Digests are of all clients.
	Digests(ctx context.Context) ([]StoredDigest, error)
}

const digestModulus = 1 << 52

type entityKey struct {
	entityType EntityType
	id         string
}

type keptChange struct {
	change Change
	// load is the number of the load in which the change came.
	load int64
}

// MemoryStore is a copy in memory, which each start of the program loads again. The zero value is empty.
type MemoryStore struct {
	mutex   sync.Mutex
	kept    map[entityKey]keptChange
	cursor  string
	load    int64
	loading bool
}

// Get returns the newest change of an entity, with its Resource, and false if there is none.
func (m *MemoryStore) Get(entityType EntityType, id string) (Change, bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	kept, ok := m.kept[entityKey{entityType, id}]
	return kept.change, ok
}

// All returns the entities that are not removed, in no order.
func (m *MemoryStore) All() []Change {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	all := make([]Change, 0, len(m.kept))
	for _, kept := range m.kept {
		all = append(all, kept.change)
	}
	return all
}

// Cursor implements Store.
func (m *MemoryStore) Cursor(context.Context) (string, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.cursor, nil
}

// Apply implements Store.
func (m *MemoryStore) Apply(_ context.Context, batch Batch) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !batch.First && m.cursor != batch.After {
		return nil
	}
	if batch.First {
		m.load++
		m.loading = true
	}
	if m.kept == nil {
		m.kept = map[entityKey]keptChange{}
	}
	for _, change := range batch.Changes {
		key := entityKey{change.Type, change.ID}
		if change.Removed {
			delete(m.kept, key)
		} else {
			m.kept[key] = keptChange{change, m.load}
		}
	}
	m.cursor = batch.Cursor
	// Only after a load: later batches leave nothing old, and scanning a large copy takes long.
	if batch.Last && m.loading {
		m.loading = false
		for key, kept := range m.kept {
			if kept.load < m.load {
				delete(m.kept, key)
			}
		}
	}
	return nil
}

// Digests implements Store.
func (m *MemoryStore) Digests(context.Context) ([]StoredDigest, error) {
	sums := map[StoredDigest]StoredDigest{}
	for _, change := range m.All() {
		key := StoredDigest{ClientID: change.ClientID, Type: change.Type}
		sum, ok := sums[key]
		if !ok {
			sum = key
		}
		sum.Count++
		sum.Digest = (sum.Digest + change.Version) % digestModulus
		sums[key] = sum
	}
	digests := make([]StoredDigest, 0, len(sums))
	for _, digest := range sums {
		digests = append(digests, digest)
	}
	return digests, nil
}

// sqliteSchema is the same in all languages of the SDK: a file that one has made, another can continue.
var sqliteSchema = []string{
	`create table if not exists entities (
		type text not null,
		id text not null,
		client_id text not null,
		version integer not null,
		changed_at text not null,
		resource text not null,
		load integer not null,
		primary key (type, id)
	)`,
	`create index if not exists entities_of_client on entities (client_id, type, version)`,
	`create table if not exists sync_state (
		only_row integer primary key check (only_row = 1),
		cursor text,
		load integer not null,
		is_loading integer not null
	)`,
	`insert or ignore into sync_state (only_row, cursor, load, is_loading) values (1, null, 0, 0)`,
}

const (
	upsertEntity = `insert into entities (type, id, client_id, version, changed_at, resource, load)
		values (?, ?, ?, ?, ?, ?, ?)
		on conflict (type, id) do update set client_id = excluded.client_id, version = excluded.version,
			changed_at = excluded.changed_at, resource = excluded.resource, load = excluded.load`
	// In halves, because SQLite refuses sums of more than 63 bits.
	storedDigests = `select client_id, type, count(*), sum(version >> 26), sum(version & 67108863)
		from entities group by client_id, type`
	changedAtFormat = "2006-01-02T15:04:05.000Z"
)

// SQLiteStore is a copy in a SQLite database: the table entities has a row for each, with its resource as
// JSON. Read it as you like; only the store writes it.
type SQLiteStore struct{ database *sql.DB }

// NewSQLiteStore makes the tables if there are none. The database has a driver of your choice.
func NewSQLiteStore(ctx context.Context, database *sql.DB) (*SQLiteStore, error) {
	for _, statement := range sqliteSchema {
		if _, err := database.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	return &SQLiteStore{database}, nil
}

// Cursor implements Store.
func (s *SQLiteStore) Cursor(ctx context.Context) (string, error) {
	var cursor sql.NullString
	err := s.database.QueryRowContext(ctx, "select cursor from sync_state").Scan(&cursor)
	return cursor.String, err
}

// Apply implements Store.
func (s *SQLiteStore) Apply(ctx context.Context, batch Batch) error {
	connection, err := s.database.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	// Otherwise removed records stay readable in unused parts of the file. Each connection has its own setting.
	if _, err = connection.ExecContext(ctx, "pragma secure_delete = on"); err != nil {
		return err
	}
	// Not a Tx: a commit that finds the file locked leaves the transaction open, which not every driver ends then.
	if _, err = connection.ExecContext(ctx, "begin immediate"); err == nil {
		err = writeBatch(ctx, connection, batch)
	}
	if err == nil {
		_, err = connection.ExecContext(ctx, "commit")
	}
	if err != nil {
		// This fails if there is no transaction any more; the first error is the one to report.
		_, _ = connection.ExecContext(context.WithoutCancel(ctx), "rollback")
	}
	return err
}

func writeBatch(ctx context.Context, connection *sql.Conn, batch Batch) error {
	var cursor sql.NullString
	var load int64
	var loading bool
	state := connection.QueryRowContext(ctx, "select cursor, load, is_loading = 1 from sync_state")
	if err := state.Scan(&cursor, &load, &loading); err != nil {
		return err
	}
	if !batch.First && cursor.String != batch.After {
		return nil
	}
	if batch.First {
		loading = true
		load++
	}
	if err := writeChanges(ctx, connection, batch.Changes, load); err != nil {
		return err
	}
	if batch.Last && loading {
		if _, err := connection.ExecContext(ctx, "delete from entities where load < ?", load); err != nil {
			return err
		}
	}
	_, err := connection.ExecContext(ctx, "update sync_state set cursor = ?, load = ?, is_loading = ?",
		sql.NullString{String: batch.Cursor, Valid: batch.Cursor != ""}, load, loading && !batch.Last)
	return err
}

func writeChanges(ctx context.Context, connection *sql.Conn, changes []Change, load int64) error {
	upsert, err := connection.PrepareContext(ctx, upsertEntity)
	if err != nil {
		return err
	}
	defer upsert.Close()
	for _, c := range changes {
		if c.Removed {
			_, err = connection.ExecContext(ctx, "delete from entities where type = ? and id = ?", string(c.Type), c.ID)
		} else {
			changedAt := c.ChangedAt.UTC().Truncate(time.Millisecond).Format(changedAtFormat)
			_, err = upsert.ExecContext(ctx, string(c.Type), c.ID, c.ClientID, c.Version, changedAt, string(c.JSON), load)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Digests implements Store.
func (s *SQLiteStore) Digests(ctx context.Context) ([]StoredDigest, error) {
	rows, err := s.database.QueryContext(ctx, storedDigests)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var digests []StoredDigest
	for rows.Next() {
		var digest StoredDigest
		var high, low int64
		if err := rows.Scan(&digest.ClientID, &digest.Type, &digest.Count, &high, &low); err != nil {
			return nil, err
		}
		digest.Digest = (high%(1<<26)<<26 + low) % digestModulus
		digests = append(digests, digest)
	}
	return digests, rows.Err()
}
