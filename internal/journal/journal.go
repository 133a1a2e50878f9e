// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Journal is open for writing. A line is one write(2) to a file opened for
// appending and is not synced: it then survives the end of this process,
// however it ends, and fsync(2) would cost each run milliseconds to survive the
// machine's.
type Journal struct {
	dir      string
	maxBytes int64
	keep     int

	mu   sync.Mutex
	lock *os.File
	f    *os.File
	size int64
	torn bool  // the file may end in half a line
	err  error // of the last write
	lost int64 // lines that could not be written
}

// ErrInUse: another process writes to the folder.
var ErrInUse = errors.New("another service writes to it")

// Open makes the folder, locks it, and marks the runs that a killed service
// left without an end. A file that grows beyond maxBytes is set aside; keep of
// those are kept.
func Open(dir string, maxBytes int64, keep int) (*Journal, error) {
	j := &Journal{dir: dir, maxBytes: maxBytes, keep: keep}
	if err := j.open(); err != nil {
		j.close()
		return nil, fmt.Errorf("cannot open the journal in %s: %w", dir, err)
	}
	return j, nil
}

func (j *Journal) open() (err error) {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	if j.lock, err = os.OpenFile(filepath.Join(j.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if err := syscall.Flock(int(j.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return ErrInUse
		}
		return err
	}
	runs, _, err := Read(j.dir)
	if err != nil {
		return err
	}
	if err := j.openFile(); err != nil {
		return err
	}
	for _, r := range runs {
		if r.End == nil {
			j.End(&End{ID: r.ID, Time: time.Now(), Outcome: Lost, Error: "the service ended before the run did"})
		}
	}
	return nil
}

func (j *Journal) openFile() (err error) {
	if j.f, err = os.OpenFile(filepath.Join(j.dir, current), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return err
	}
	st, err := j.f.Stat()
	if err != nil {
		return err
	}
	j.size = st.Size()
	j.torn = j.size > 0
	return nil
}

// Start notes that a run begins.
func (j *Journal) Start(s *Start) error { return j.write(&line{Start: s}) }

// End notes how a run ended. What can't be written is counted.
func (j *Journal) End(e *End) { _ = j.write(&line{End: e}) }

func (j *Journal) write(l *line) error {
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("cannot write to the journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.put(append(b, '\n')); err != nil {
		j.lost++
		return fmt.Errorf("cannot write to the journal: %w", err)
	}
	return nil
}

// put writes a whole line or none of it.
func (j *Journal) put(b []byte) (err error) {
	defer func() { j.err = err }()
	if err := j.rotate(int64(len(b))); err != nil {
		return err
	}
	if j.torn { // an empty line is skipped
		b = append([]byte("\n"), b...)
	}
	n, err := j.f.Write(b)
	switch {
	case err == nil:
		j.size += int64(n)
		j.torn = false
	case n > 0:
		// Half a line is taken back, so that the next one stands alone.
		j.torn = j.f.Truncate(j.size) != nil || j.torn
	}
	return err
}

func (j *Journal) rotate(more int64) error {
	if j.f != nil && (j.size == 0 || j.size+more <= j.maxBytes) {
		return nil
	}
	if j.f != nil {
		old := filepath.Join(j.dir, fmt.Sprintf("runs-%020d.jsonl", time.Now().UnixNano()))
		if err := os.Rename(j.f.Name(), old); err != nil {
			return err
		}
		_ = j.f.Close()
		j.f = nil
	}
	if err := j.openFile(); err != nil {
		return err
	}
	names := files(j.dir)
	for len(names)-1 > j.keep {
		_ = os.Remove(names[0])
		names = names[1:]
	}
	return nil
}

// blankSize is as long as a line may well be: a full disk often has room for a
// few bytes.
const blankSize = 4096

// State says whether lines can be written, and how many could not. After one
// that could not, it tries anew: who sends no runs to a service that is not
// ready would wait for ever.
func (j *Journal) State() (lost int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil && j.lock != nil {
		_ = j.put(append(bytes.Repeat([]byte(" "), blankSize-1), '\n'))
	}
	return j.lost, j.err
}

// Close syncs and closes the journal.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if j.f != nil {
		err = j.f.Sync()
	}
	j.close()
	return err
}

func (j *Journal) close() {
	for _, f := range []*os.File{j.f, j.lock} {
		if f != nil {
			_ = f.Close()
		}
	}
	j.f, j.lock = nil, nil
}

// DefaultDir is where the service of a user keeps its journal.
func DefaultDir(home, stateHome string) string {
	if !filepath.IsAbs(stateHome) {
		stateHome = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(stateHome, "ambit", "journal")
}
