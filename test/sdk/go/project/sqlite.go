package main

import (
	"bufio"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
)

func init() { sql.Register("sqlite-process", sqliteDriver{}) }

// program has the SQLite of the test. Each line that it reads is a statement with its values.
const program = `
const database = new (require(process.env.SQLITE_BINDING))(process.argv[1]);
database.pragma('journal_mode = wal');
// The program that asks has been killed.
process.stdout.on('error', () => process.exit());
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  let answer;
  try {
    const { sql, values } = JSON.parse(line);
    const statement = database.prepare(sql);
    if (statement.reader) {
      answer = { columns: statement.columns().map(({ name }) => name), rows: statement.raw().all(values) };
    } else {
      statement.run(values);
      answer = {};
    }
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
});
`

// sqliteDriver is for database/sql. Go has no SQLite of its own, and the tests get none from the network.
type sqliteDriver struct{}

type connection struct {
	process *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
}

func (sqliteDriver) Open(path string) (driver.Conn, error) {
	process := exec.Command(os.Getenv("NODE"), "-e", program, path)
	process.Stderr = os.Stderr
	input, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &connection{process, input, bufio.NewReader(output)}, process.Start()
}

func (c *connection) Prepare(query string) (driver.Stmt, error) { return statement{c, query}, nil }

// Begin is only for the interface: the store begins its transactions by statements.
func (c *connection) Begin() (driver.Tx, error) {
	return nil, errors.New("no transactions of database/sql")
}

func (c *connection) Close() error {
	c.input.Close()
	return c.process.Wait()
}

func (c *connection) ask(query string, values []driver.Value) (*rows, error) {
	given := []any{}
	for _, value := range values {
		switch value {
		case true:
			given = append(given, 1)
		case false:
			given = append(given, 0)
		default:
			given = append(given, value)
		}
	}
	line, err := json.Marshal(object{"sql": query, "values": given})
	if err != nil {
		return nil, err
	}
	if _, err := c.input.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	line, err = c.output.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var answer struct {
		Names []string            `json:"columns"`
		Rows  [][]json.RawMessage `json:"rows"`
		Error string              `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	return &rows{answer.Names, answer.Rows}, nil
}

type statement struct {
	connection *connection
	query      string
}

func (s statement) Close() error  { return nil }
func (s statement) NumInput() int { return -1 }

func (s statement) Exec(values []driver.Value) (driver.Result, error) {
	_, err := s.connection.ask(s.query, values)
	return driver.ResultNoRows, err
}

func (s statement) Query(values []driver.Value) (driver.Rows, error) {
	return s.connection.ask(s.query, values)
}

type rows struct {
	names []string
	left  [][]json.RawMessage
}

func (r *rows) Columns() []string { return r.names }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(values []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	for index, sent := range r.left[0] {
		var number int64
		var text string
		switch {
		case string(sent) == "null":
			values[index] = nil
		case json.Unmarshal(sent, &number) == nil:
			values[index] = number
		default:
			if err := json.Unmarshal(sent, &text); err != nil {
				return err
			}
			values[index] = text
		}
	}
	r.left = r.left[1:]
	return nil
}
