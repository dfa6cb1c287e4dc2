package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
)

const (
	// editorVar is the mount that a child process of this test edits, and editorSeedVar
	// seeds its choices.
	editorVar     = "LOREFS_CRASH_EDITOR"
	editorSeedVar = "LOREFS_CRASH_SEED"
	// editorFilesVar has the files that it edits, if these hold any text, with spaces between.
	// It gives the first the name of the last but one for a moment, and makes and removes the
	// last. editorSheetsVar says that it edits sheets as texts.
	editorFilesVar  = "LOREFS_CRASH_FILES"
	editorSheetsVar = "LOREFS_CRASH_SHEETS"
	// crashSeedVar repeats an earlier run, as far as the machine allows, and crashKillsVar
	// makes a longer one.
	crashSeedVar  = "LOREFS_CRASH_RUN"
	crashKillsVar = "LOREFS_CRASH_KILLS"
	// crashCommitsVar sets how many commits of each kind of source are killed.
	crashCommitsVar = "LOREFS_CRASH_COMMITS"
)

// The attributes that are edited. The last one does not exist at first, nor does its node. The
// first text has the name crashMoved for a moment now and then.
var (
	crashTexts = []string{"tree/ItemData/Item/name", "tree/ItemData/Item.1/name", "tree/ItemData.1/Item/name"}
	crashInts  = []string{"tree/ItemData/Item.2/price", "tree/ItemData/Item.3/price"}
	crashMoved = "tree/ItemData/Item/moved"
	crashMade  = "tree/Quest/Crash/note"
)

func crashAll() []string {
	return slices.Concat(crashTexts, crashInts, []string{crashMoved, crashMade})
}

// emptyValue stands for the value of a file that is there, and empty.
const emptyValue = "(empty)"

// plainValue returns the value of a file that holds any text.
func plainValue(text string) string { return cmp.Or(strings.TrimSuffix(text, "\n"), emptyValue) }

func init() {
	if dir := os.Getenv(editorVar); dir != "" {
		os.Exit(runEditor(dir))
	}
}

// runEditor edits until its standard input ends, or something fails. It reports when each
// edit begins and when it has returned:
//
//	begin PATH VALUE
//	done PATH
func runEditor(dir string) int {
	seed, err := strconv.ParseUint(os.Getenv(editorSeedVar), 10, 64)
	if err != nil {
		fmt.Println("error", err)
		return cli.ExitFailure
	}
	var stop atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	e := &editor{dir: dir, r: rand.New(rand.NewPCG(seed, 0)), seed: seed, files: strings.Fields(os.Getenv(editorFilesVar))}
	if os.Getenv(editorSheetsVar) != "" {
		e.sheets, err = readSheets(dir)
	} else {
		e.squares, err = readSquares(dir)
	}
	if err != nil {
		fmt.Println("error", err)
		return cli.ExitFailure
	}
	for !stop.Load() {
		if err := e.one(); err != nil {
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
			return cli.ExitFailure
		}
	}
	return cli.ExitOK
}

type editor struct {
	dir  string
	r    *rand.Rand
	seed uint64
	n    int
	// squares are the texts of the squares that are edited, if the source is a world.
	squares map[string]string
	// sheets are the texts of the sheets that are edited, if these are.
	sheets map[string]string
	// files are those of editorFilesVar.
	files []string
}

// one makes an edit in one of the ways of real programs.
func (e *editor) one() error {
	e.n++
	switch {
	case len(e.squares) > 0:
		return e.square()
	case len(e.sheets) > 0:
		return e.sheet()
	case len(e.files) > 0:
		return e.anyText()
	}
	switch e.r.IntN(10) {
	case 0:
		return e.made()
	case 1, 2, 3:
		value := strconv.Itoa(int(e.seed%1000)*1000 + e.n)
		return e.write(crashInts[e.r.IntN(len(crashInts))], value, value+"\n", e.emptyFirst)
	case 4:
		return e.move(crashTexts[0], crashMoved)
	case 5:
		return e.replace(crashTexts[0], crashMoved)
	}
	return e.text(crashTexts[e.r.IntN(len(crashTexts))], crashTexts[0], crashMoved)
}

// anyText edits a file that holds any text.
func (e *editor) anyText() error {
	texts, moved, made := e.files[:len(e.files)-2], e.files[len(e.files)-2], e.files[len(e.files)-1]
	switch i := e.r.IntN(len(e.files)); {
	case i < len(texts):
		return e.text(texts[i], texts[0], moved)
	case i == len(texts) && e.r.IntN(2) == 0:
		return e.replace(texts[0], moved)
	case i == len(texts):
		return e.move(texts[0], moved)
	}
	path := filepath.Join(e.dir, made)
	if _, err := os.Lstat(path); err != nil {
		value, text := e.value()
		fmt.Println("begin", made, value)
		return e.echo(path, text)
	}
	fmt.Println("begin", made)
	if err := os.Remove(path); err != nil {
		return err
	}
	e.done(path)
	return nil
}

// value returns a new value, and the text of a file that has it. Some are empty.
func (e *editor) value() (value, text string) {
	if e.r.IntN(3) == 0 {
		return emptyValue, ""
	}
	value = fmt.Sprintf("v%d.%d", e.seed, e.n)
	return value, value + "\n"
}

// text writes to a file that holds any text. first is that one which move moves.
func (e *editor) text(name, first, moved string) error {
	if name == first {
		if err := e.moveBack(first, moved); err != nil {
			return err
		}
	}
	value, text := e.value()
	return e.write(name, value, text)
}

// move gives a file another name, and its own again.
func (e *editor) move(name, moved string) error {
	if err := e.moveBack(name, moved); err != nil {
		return err
	}
	if err := e.rename(name, moved); err != nil {
		return err
	}
	return e.rename(moved, name)
}

// replace makes a file by another name, and renames it to the first.
func (e *editor) replace(name, other string) error {
	if err := e.moveBack(name, other); err != nil {
		return err
	}
	value, text := e.value()
	fmt.Println("begin", other, value)
	if err := e.echo(filepath.Join(e.dir, other), text); err != nil {
		return err
	}
	return e.rename(other, name)
}

// moveBack gives a file its name again, if an editor that was killed has not done so.
func (e *editor) moveBack(name, moved string) error {
	if _, err := os.Lstat(filepath.Join(e.dir, name)); err == nil {
		return nil
	}
	return e.rename(moved, name)
}

func (e *editor) rename(from, to string) error {
	was, is := filepath.Join(e.dir, from), filepath.Join(e.dir, to)
	text, err := os.ReadFile(was)
	if err != nil {
		return err
	}
	fmt.Println("begin", from)
	fmt.Println("begin", to, plainValue(string(text)))
	if err := os.Rename(was, is); err != nil {
		return err
	}
	e.done(was)
	e.done(is)
	return nil
}

// write writes a value by writing a text to a file. more are ways besides those of all files.
func (e *editor) write(name, value, text string, more ...func(file, text string) error) error {
	ways := append(more, e.echo, e.fsync, e.sed, e.vim, e.away)
	fmt.Println("begin", name, value)
	return ways[e.r.IntN(len(ways))](filepath.Join(e.dir, name), text)
}

// done reports that an edit must be durable from now on.
func (e *editor) done(file string) {
	name, err := filepath.Rel(e.dir, file)
	if err != nil {
		panic(err)
	}
	fmt.Println("done", name)
}

// fill writes a file that is open.
func fill(f *os.File, value string, err error) error {
	if err == nil {
		_, err = f.WriteString(value)
	}
	return err
}

func (e *editor) echo(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o600)
	if err := fill(f, value, err); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	e.done(file)
	return nil
}

func (e *editor) fsync(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err := fill(f, value, err); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	e.done(file)
	return f.Close()
}

// emptyFirst empties a file that can't be empty, has fsync(2) say so, and writes it.
func (e *editor) emptyFirst(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	if err := f.Sync(); !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("fsync of an emptied file: %w", err)
	}
	if err := fill(f, value, nil); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	e.done(file)
	return nil
}

// sedTemp begins the names of sed's temporary files. If sed is killed, it leaves one, as in
// any folder.
const sedTemp = "sedTmp"

// sed writes a file beside the old one and renames it.
func (e *editor) sed(file, value string) error {
	temp := filepath.Join(filepath.Dir(file), fmt.Sprintf("%s%d_%d", sedTemp, e.seed, e.n))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err := fill(f, value, err); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, file); err != nil {
		return err
	}
	e.done(file)
	return nil
}

// vim moves the file away and writes it again.
func (e *editor) vim(file, value string) error {
	swap, backup := filepath.Join(filepath.Dir(file), ".swp"), file+"~"
	if err := os.WriteFile(swap, []byte("b0VIM"), 0o600); err != nil {
		return err
	}
	if err := os.Rename(file, backup); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err := fill(f, value, err); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	e.done(file)
	return errors.Join(f.Close(), os.Remove(backup), os.Remove(swap))
}

// away moves the file away, writes it there, and moves it back.
func (e *editor) away(file, value string) error {
	elsewhere := filepath.Join(filepath.Dir(file), ".away")
	if err := os.Rename(file, elsewhere); err != nil {
		return err
	}
	if err := os.WriteFile(elsewhere, []byte(value), 0o600); err != nil {
		return err
	}
	if err := os.Rename(elsewhere, file); err != nil {
		return err
	}
	e.done(file)
	return nil
}

// syncTwice makes a file, and syncs it before and after it writes it.
func (e *editor) syncTwice(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = f.Sync()
	if err := fill(f, value, err); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	e.done(file)
	return f.Close()
}

// made makes an attribute in a new node, or removes both.
func (e *editor) made() error {
	file := filepath.Join(e.dir, crashMade)
	if _, err := os.Lstat(file); err == nil {
		fmt.Println("begin", crashMade)
		if err := os.Remove(file); err != nil {
			return err
		}
		e.done(file)
		return os.Remove(filepath.Dir(file))
	}
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil && !errors.Is(err, iofs.ErrExist) {
		return err
	}
	value, text := e.value()
	fmt.Println("begin", crashMade, value)
	return e.echo(file, text)
}

// history has the values that were written to an attribute. The first is the original one;
// an empty value means that there is no attribute.
type history struct {
	values []string
	// sure is the place of the last value whose edit has returned.
	sure int
}

// crashed is a source of some kind.
type crashed interface {
	// flags are the flags of its mount, and names the files in it that are edited.
	flags() []string
	names() []string
	// value returns the value in the text of such a file, and values returns the saved
	// values.
	value(text string) string
	values() map[string]string
	// unchanged checks that everything else is as before.
	unchanged()
}

// anyTexts is implemented by a crashed source whose files hold any text. The last but one of
// names is another name of the first, and the last is made and removed.
type anyTexts interface{ anyTexts() }

// sheetTexts is implemented by a crashed source whose sheets are edited as texts.
type sheetTexts interface{ sheetTexts() }

// otherNames is implemented by a crashed source with files that have one of several names, until a
// save gives them that one which names has.
type otherNames interface {
	nameIn(mnt, name string) string
}

// lastNotice is more than a process needs that is killed. If a notice of its is in the kernel, which
// waits for a directory that the kernel holds for a request, only an unmount by force ends both.
const lastNotice = 10 * time.Second

// crash is a source that is edited through mounts that are killed.
type crash struct {
	crashed
	t         *testing.T
	r         *rand.Rand
	path, mnt string
	// saving is how long a commit takes on this machine.
	saving time.Duration
	// Counts for the log.
	killed, inCommits, inUnmounts, edits, stuck int

	// killing is set when failures are expected.
	killing atomic.Bool
	// mu guards the fields below.
	mu   sync.Mutex
	said map[string]*history
}

// TestCrash kills the process of a mount at random moments, while files are edited and
// saved. Afterwards no edit may be missing that a program was told is durable, and nothing
// else may have changed.
func TestCrash(t *testing.T) {
	c := newCrash(t, "DataCenter_Final_Sample.dat")
	d := &crashedDataCenter{crash: c}
	d.original = d.contents()
	c.run(d, testneeds.Cases(10, 50, 300))
}

func newCrash(t *testing.T, source string) *crash {
	t.Helper()
	testneeds.FUSE(t)
	testneeds.Slow(t, "kills many mounts")
	ownFolders(t)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each command takes a second with -race
	seed := uint64(fromEnvironment(t, crashSeedVar, time.Now().UnixNano()))
	t.Logf("%s=%d chooses the same", crashSeedVar, seed)
	made, err := madeSample()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(made)); err != nil {
		t.Fatal(err)
	}
	c := &crash{
		t: t, r: rand.New(rand.NewPCG(seed, 0)), mnt: t.TempDir(), said: map[string]*history{},
		path: filepath.Join(dir, source), saving: 100 * time.Millisecond,
	}
	t.Cleanup(func() { detachBelow(filepath.Dir(c.mnt)) })
	return c
}

// fromEnvironment returns the number in a variable, or a default.
func fromEnvironment(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCrashCommit kills the process of a mount while it saves, and mounts again over the
// dead mount, without doing anything else first.
func TestCrashCommit(t *testing.T) {
	c := newCrash(t, "DataCenter_Final_Sample.dat")
	d := &crashedDataCenter{crash: c}
	d.original = d.contents()
	c.runCommits(d, testneeds.Cases(3, 12, 300))
}

// runCommits kills a number of commits, which the environment can override.
func (c *crash) runCommits(source crashed, kills int) {
	c.t.Helper()
	c.begin(source)
	began := time.Now()
	for kills = int(fromEnvironment(c.t, crashCommitsVar, int64(kills))); c.inCommits < kills && !c.t.Failed(); {
		c.commitRound()
	}
	c.finish()
	c.t.Logf("%d kills in %.0f s, %d of them while a commit wrote; %d edits had returned, %d processes had a notice under way, writing takes %v",
		c.killed, time.Since(began).Seconds(), c.inCommits, c.edits, c.stuck, c.saving)
}

// commitRound mounts, checks the edits of earlier rounds, edits, and kills the process while
// a commit replaces files.
func (c *crash) commitRound() {
	c.t.Helper()
	c.killing.Store(false)
	mount := c.mount()
	c.settle()
	e := c.edit()
	before := c.stat()
	save := launch(c.t, "lorefs", "commit", c.mnt)
	c.writes(save)
	longest := c.saving
	if c.r.IntN(3) == 0 {
		c.replaced(before, save)
		longest = 2 * time.Millisecond
	}
	began := time.Now()
	select {
	case <-time.After(time.Duration(c.r.Int64N(int64(longest)))):
	case <-save.ended:
		c.saving = (3*c.saving + time.Since(began)) / 4
	}
	c.kill(mount, save)
	e.finish()
	if p := launch(c.t, "lorefs", "verify", c.path); p.wait() != nil {
		c.t.Fatalf("after kill %d the source is not whole: %s", c.killed, p.output.String())
	}
	if c.killed%20 == 0 {
		c.unchanged()
	}
}

// writes returns when a save begins to write a new file, or has ended.
func (c *crash) writes(save *command) {
	c.t.Helper()
	dir := c.path
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	for !save.hasEnded() {
		if found, err := filepath.Glob(filepath.Join(dir, ".*.tmp")); err != nil || len(found) > 0 {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// run kills a number of times, which the environment can override.
func (c *crash) run(source crashed, kills int) {
	c.t.Helper()
	c.begin(source)
	began := time.Now()
	for kills = int(fromEnvironment(c.t, crashKillsVar, int64(kills))); c.killed < kills && !c.t.Failed(); {
		c.round()
	}
	c.finish()
	c.t.Logf("%d kills in %.0f s: %d while a commit ran, %d while an unmount did; %d edits had returned, %d processes had a notice under way, a commit takes %v",
		c.killed, time.Since(began).Seconds(), c.inCommits, c.inUnmounts, c.edits, c.stuck, c.saving)
}

// begin remembers the original content of a source.
func (c *crash) begin(source crashed) {
	c.t.Helper()
	c.crashed = source
	first := c.values()
	for _, name := range c.names() {
		c.said[name] = &history{values: []string{first[name]}}
		if first[name] == "" && !c.isMade(name) {
			c.t.Fatalf("the sample has no %s", name)
		}
	}
}

// isMade reports whether the editor makes and removes a file.
func (c *crash) isMade(name string) bool {
	if _, is := c.crashed.(anyTexts); is {
		names := c.names()
		return slices.Contains(names[len(names)-2:], name)
	}
	return slices.Contains([]string{crashMoved, crashMade, crashMadeSheet}, name)
}

// round mounts, checks the edits of earlier rounds, edits, and kills the process.
func (c *crash) round() {
	c.t.Helper()
	c.killing.Store(false)
	mount := c.mount()
	c.settle()
	e := c.edit()
	if c.r.IntN(4) == 0 {
		c.commit()
	}
	sure := c.sure()
	before := c.stat()
	var save *command
	longest := 30 * time.Millisecond
	switch kind := c.r.IntN(10); {
	case kind < 3: // kill without a save
	case kind < 8:
		save, longest = launch(c.t, "lorefs", "commit", c.mnt), c.saving*5/4
	default:
		e.finish()
		save, longest = launch(c.t, "lorefs", "unmount", c.mnt), c.saving*3/2
	}
	if save != nil && c.r.IntN(3) == 0 {
		c.replaced(before, save)
		longest = 2 * time.Millisecond
	}
	time.Sleep(time.Duration(c.r.Int64N(int64(longest))))
	c.kill(mount, save)
	e.finish()
	if save == nil || !save.saved() {
		sure = nil
	}
	c.inspect(sure)
}

// stat returns the attributes of the source's files.
func (c *crash) stat() (all []os.FileInfo) {
	c.t.Helper()
	paths, err := filepath.Glob(filepath.Join(c.path, "*.zgd"))
	if len(paths) == 0 {
		paths = []string{c.path}
	}
	for _, path := range paths {
		info, statErr := os.Stat(path)
		all, err = append(all, info), errors.Join(err, statErr)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}

// replaced waits for the moment when a new file replaces an old one. The steps around it are
// too quick to hit by chance.
func (c *crash) replaced(before []os.FileInfo, save *command) {
	c.t.Helper()
	for !save.hasEnded() {
		if !slices.EqualFunc(before, c.stat(), os.SameFile) {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// command is a running program.
type command struct {
	cmd    *exec.Cmd
	output bytes.Buffer
	ended  chan struct{}
	err    error
}

// launch starts a program.
func launch(t *testing.T, name string, args ...string) *command {
	t.Helper()
	p := &command{cmd: exec.CommandContext(t.Context(), name, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.start(t, func() {})
	return p
}

// start starts it; read reads its output.
func (p *command) start(t *testing.T, read func()) {
	t.Helper()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		read()
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
}

// wait waits for the end, and returns an error if the program failed.
func (p *command) wait() error {
	<-p.ended
	return p.err
}

// saved reports whether a commit or unmount says that everything is saved. An unmount that
// comes too late finds a dead mount and removes it.
func (p *command) saved() bool {
	return p.wait() == nil && p.output.Len() > 0
}

func (p *command) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// mount mounts in the foreground, so that the process is a child of the test, and returns
// when the mount answers. It must not be killed before that: go-fuse opens a file of the
// mount for a moment, and a process that dies then waits for itself.
func (c *crash) mount() *command {
	c.t.Helper()
	p := launch(c.t, "lorefs", slices.Concat([]string{"mount", "-f", "--rw"}, c.flags(), []string{c.path, c.mnt})...)
	await(c.t.Fatalf, "the mount", func() bool {
		if p.hasEnded() {
			c.t.Fatalf("after kill %d the mount fails: %v: %s", c.killed, p.err, p.output.String())
		}
		_, line, err := mounted.Talk(c.mnt, daemon.Request{Do: daemon.Status}, nil)
		return err == nil && line.Close() == nil
	})
	return p
}

// settle checks that the mount has what was promised, and makes that the original state for
// the next rounds.
func (c *crash) settle() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, h := range c.said {
		file := name
		if other, is := c.crashed.(otherNames); is {
			file = other.nameIn(c.mnt, name)
		}
		b, err := os.ReadFile(filepath.Join(c.mnt, file))
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			c.t.Fatal(err)
		}
		value := ""
		if err == nil {
			value = c.value(string(b))
		}
		c.want(name, value, h.sure)
		*h = history{values: []string{value}}
	}
}

// want checks that a value was written at a place of the history or later. The caller holds
// mu.
func (c *crash) want(name, value string, from int) {
	c.t.Helper()
	if may := c.said[name].values[from:]; !slices.Contains(may, value) {
		c.t.Errorf("after kill %d, %s is %q, want %q or what was written behind it, %q", c.killed, name, value, may[0], may[1:])
	}
}

// editorProcess is a process that runs runEditor.
type editorProcess struct {
	*command
	c     *crash
	stdin io.Closer
}

// edit starts a process that edits, and returns when it has begun.
func (c *crash) edit() *editorProcess {
	c.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	p := &command{cmd: exec.CommandContext(c.t.Context(), exe), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), editorVar+"="+c.mnt, editorSeedVar+"="+strconv.Itoa(c.r.IntN(1000_000)))
	if _, is := c.crashed.(anyTexts); is {
		p.cmd.Env = append(p.cmd.Env, editorFilesVar+"="+strings.Join(c.names(), " "))
	}
	if _, is := c.crashed.(sheetTexts); is {
		p.cmd.Env = append(p.cmd.Env, editorSheetsVar+"=1")
	}
	p.cmd.Stderr = &p.output
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	before := c.returned()
	p.start(c.t, func() { c.listen(stdout) })
	await(c.t.Fatalf, "an edit", func() bool { return p.hasEnded() || c.returned() > before })
	return &editorProcess{p, c, stdin}
}

// finish ends the process, and returns when it has ended.
func (e *editorProcess) finish() {
	e.c.t.Helper()
	_ = e.stdin.Close() // may be closed already
	select {
	case <-e.ended:
	case <-time.After(patience):
		_ = unix.Unmount(e.c.mnt, unix.MNT_FORCE) // otherwise it would wait forever
		e.c.t.Fatalf("after kill %d the editor hangs", e.c.killed)
	}
	if e.output.Len() > 0 {
		e.c.t.Errorf("the editor says %s", e.output.String())
	}
}

// listen records what an editor reports.
func (c *crash) listen(r io.Reader) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		what, rest, _ := strings.Cut(lines.Text(), " ")
		name, value, _ := strings.Cut(rest, " ")
		c.mu.Lock()
		switch h := c.said[name]; {
		case what == "begin" && h != nil:
			h.values = append(h.values, value)
		case what == "done" && h != nil:
			h.sure = len(h.values) - 1
			c.edits++
		case !c.killing.Load():
			c.t.Errorf("the editor says %q although the mount is served", lines.Text())
		}
		c.mu.Unlock()
	}
}

func (c *crash) returned() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.edits
}

// sure returns the places of the values whose edits have returned.
func (c *crash) sure() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	sure := map[string]int{}
	for name, h := range c.said {
		sure[name] = h.sure
	}
	return sure
}

// commit saves, and measures how long that takes.
func (c *crash) commit() {
	c.t.Helper()
	sure, began := c.sure(), time.Now()
	p := launch(c.t, "lorefs", "commit", c.mnt)
	if err := p.wait(); err != nil {
		c.t.Fatalf("commit: %v: %s", err, p.output.String())
	}
	c.saving = (3*c.saving + time.Since(began)) / 4
	c.holds(sure)
}

// holds checks that the source has what a save must have written.
func (c *crash) holds(sure map[string]int) {
	c.t.Helper()
	now := c.values()
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, from := range sure {
		c.want(name, now[name], from)
	}
}

// kill kills the process of a mount, unless it has ended already.
func (c *crash) kill(mount, save *command) {
	c.t.Helper()
	running := save != nil && !save.hasEnded()
	c.killing.Store(true)
	if err := mount.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Fatal(err)
	}
	select {
	case <-mount.ended:
	case <-time.After(lastNotice):
		// A notice of a name waits for a program, which waits for the process.
		c.stuck++
		_ = unix.Unmount(c.mnt, unix.MNT_FORCE)
	}
	if mount.wait() == nil {
		return // an unmount was quicker
	}
	c.killed++
	switch {
	case running && slices.Contains(save.cmd.Args, "commit"):
		c.inCommits++
	case running:
		c.inUnmounts++
	}
}

// inspect checks what a killed process has left.
func (c *crash) inspect(sure map[string]int) {
	c.t.Helper()
	there, err := daemon.Mounted(c.mnt)
	if err != nil {
		c.t.Fatal(err)
	}
	if there {
		clearDead(c.t, c.mnt)
	}
	if p := launch(c.t, "lorefs", "verify", c.path); p.wait() != nil {
		c.t.Fatalf("after kill %d the source is not whole: %s", c.killed, p.output.String())
	}
	if sure != nil {
		c.holds(sure)
	}
	if c.killed%20 == 0 {
		c.unchanged()
	}
}

// clearDead unmounts what a killed process has left. unmount reports whether there are
// edits.
func clearDead(t *testing.T, mnt string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "lorefs", "unmount", mnt).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == cli.ExitUnsaved {
		err = nil
	}
	if err != nil {
		t.Fatalf("unmount: %v: %s", err, out)
	}
}

// finish mounts once more and unmounts, and checks that nothing is left to do.
func (c *crash) finish() {
	c.t.Helper()
	mount := c.mount()
	c.settle()
	runTool(c.t, "", "lorefs", "unmount", c.mnt)
	if err := mount.wait(); err != nil {
		c.t.Errorf("%v: %s", err, mount.output.String())
	}
	c.holds(c.sure())
	c.unchanged()
	// A kill in the middle of a write cuts a record, which had not returned. The journal with
	// it is kept beside, and listed.
	for line := range strings.Lines(runTool(c.t, "", "lorefs", "journal", "list")) {
		if strings.HasSuffix(strings.TrimSpace(line), ".journal") {
			c.t.Errorf("there is a journal still: %s", line)
		}
	}
	for _, dir := range []string{c.path, filepath.Dir(c.path)} {
		left, err := filepath.Glob(filepath.Join(dir, ".*"))
		if err != nil || len(left) > 0 {
			c.t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// crashedDataCenter is a crashed data center.
type crashedDataCenter struct {
	*crash
	// original is the original content of all files.
	original map[string]string
}

func (d *crashedDataCenter) flags() []string           { return nil }
func (d *crashedDataCenter) names() []string           { return crashAll() }
func (d *crashedDataCenter) value(text string) string  { return plainValue(text) }
func (d *crashedDataCenter) values() map[string]string { return d.contents() }

// contents returns the content of all files of the source; "/" for a directory.
func (d *crashedDataCenter) contents() map[string]string {
	d.t.Helper()
	s, err := reach.OpenSource(d.t.Context(), d.path, &options.SourceFlags{
		Kind: options.KindAuto, Layout: datacenter.LayoutAuto.String(), CacheSize: options.DefaultCacheSize, NoCache: true,
	}, slog.New(slog.DiscardHandler), cli.Silence{}.Set)
	if err != nil {
		d.t.Fatal(err)
	}
	defer s.Close()
	all := map[string]string{}
	p := &part{Source: s}
	for e, err := range nodes.Walk(d.t.Context(), s.Tree, nodes.Root) {
		if err != nil {
			d.t.Fatal(err)
		}
		if strings.HasPrefix(e.Path, "sheets") || strings.HasPrefix(e.Path, "by-key") {
			continue // the same content again
		}
		all[e.Path] = "/"
		if e.Kind == nodes.File {
			b, err := p.content(d.t.Context(), e.Entry)
			if err != nil {
				d.t.Fatal(err)
			}
			all[e.Path] = plainValue(string(b))
		}
	}
	return all
}

// unchanged checks that everything but the edited attributes is as before.
func (d *crashedDataCenter) unchanged() { d.unchangedBut(append(crashAll(), path.Dir(crashMade))) }

func (d *crashedDataCenter) unchangedBut(edited []string) {
	d.t.Helper()
	was, now := maps.Clone(d.original), d.contents()
	for _, all := range []map[string]string{was, now} {
		delete(all, "datacenter.json") // it has the size of the file
		for _, name := range edited {
			delete(all, name)
		}
		maps.DeleteFunc(all, func(name, _ string) bool {
			return strings.HasPrefix(path.Base(name), sedTemp) || strings.HasPrefix(name, crashMoreNode)
		})
	}
	for name := range was {
		if value, ok := now[name]; !ok || value != was[name] {
			d.t.Errorf("after kill %d, %s is %q, want %q", d.killed, name, value, was[name])
		}
	}
	if len(was) != len(now) {
		d.t.Errorf("after kill %d there are %d files and directories, want %d", d.killed, len(now), len(was))
	}
}
