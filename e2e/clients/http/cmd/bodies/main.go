// Command bodies sends small JSON bodies to an echo, many at once, and compares the hash of each with that of its answer.
//
// Half of them have members that the sidecar seals, half go where it touches nothing; each is another one. It prints one
// line of JSON: how many there were, and the first few that came back as anything else.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxWrong is how many wrong answers are told; they count all the same.
const maxWrong = 5

type told struct {
	Sent    int64    `json:"sent"`
	Wrong   int64    `json:"wrong"`
	First   []string `json:"first"`
	Seconds float64  `json:"seconds"`
}

type run struct {
	client *http.Client
	base   string
	paths  []string
	header [2]string
	next   atomic.Int64
	count  int64
	mutex  sync.Mutex
	told   told
}

func main() {
	base := flag.String("url", "", "of the echo, without a path")
	paths := flag.String("paths", "/echo/sealed,/echo/plain", "taken in turn")
	count := flag.Int64("count", 1000, "bodies")
	workers := flag.Int("workers", 16, "at once")
	header := flag.String("header", "", "NAME: VALUE of every request")
	http2 := flag.Bool("http2", false, "speak HTTP/2 from the first byte")
	seed := flag.Uint64("seed", 1, "of the bodies")
	flag.Parse()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!*http2)
	protocols.SetUnencryptedHTTP2(*http2)
	transport := &http.Transport{Protocols: protocols, MaxIdleConnsPerHost: *workers, DisableCompression: true}
	name, value, _ := strings.Cut(*header, ": ")
	r := &run{
		client: &http.Client{Transport: transport, Timeout: time.Minute},
		base:   *base, paths: strings.Split(*paths, ","), header: [2]string{name, value}, count: *count,
	}
	started := time.Now()
	var all sync.WaitGroup
	for worker := range *workers {
		random := rand.New(rand.NewPCG(*seed, uint64(worker)))
		all.Go(func() { r.work(random) })
	}
	all.Wait()
	r.told.Seconds = time.Since(started).Seconds()
	_ = json.NewEncoder(os.Stdout).Encode(r.told)
}

func (r *run) work(random *rand.Rand) {
	for {
		number := r.next.Add(1) - 1
		if number >= r.count {
			return
		}
		body := body(random, number)
		wrong := r.send(r.paths[number%int64(len(r.paths))], body)
		r.mutex.Lock()
		r.told.Sent++
		if wrong != "" {
			r.told.Wrong++
			if len(r.told.First) < maxWrong {
				r.told.First = append(r.told.First, fmt.Sprintf("number %d: %s", number, wrong))
			}
		}
		r.mutex.Unlock()
	}
}

// send says what is wrong, if anything.
func (r *run) send(path string, body []byte) string {
	of, err := http.NewRequest("POST", r.base+path, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	of.Header.Set("Content-Type", "application/json")
	if r.header[0] != "" {
		of.Header.Set(r.header[0], r.header[1])
	}
	answer, err := r.client.Do(of)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	came, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return err.Error()
	case answer.StatusCode != http.StatusOK:
		return fmt.Sprintf("status %d: %.300s", answer.StatusCode, came)
	case hash(came) != hash(body):
		return fmt.Sprintf("%d bytes of hash %.8s, not %d of %.8s", len(came), hash(came), len(body), hash(body))
	}
	return ""
}

func hash(of []byte) string {
	sum := sha256.Sum256(of)
	return hex.EncodeToString(sum[:])
}

const letters = "abcdefghijklmnopqrstuvwxyz ÄÖÜéñ中文😀"

// body is an object with what is sealed (card, ssn) between what is not, in some order, with space and escapes here and there.
func body(random *rand.Rand, number int64) []byte {
	members := []string{
		fmt.Sprintf(`"card":%s"4111 %04d %s"`, space(random), random.IntN(10000), mark(number)),
		fmt.Sprintf(`"ssn"%s: "%s-%d"`, space(random), mark(number), number),
		fmt.Sprintf(`"number": %d.%020d`, number, random.Uint64()),
		fmt.Sprintf(`"text":"%s"`, text(random, random.IntN(200))),
		`"escaped":"\u0041\n\"\\"`,
		`"nested": [ {"a":[null ,true,1e400]}, [] ]`,
	}
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return []byte("{" + space(random) + strings.Join(members[:2+random.IntN(len(members)-1)], ","+space(random)) + "}")
}

// mark stands in every value that is to be sealed: nobody behind the sidecar may see it.
func mark(number int64) string { return fmt.Sprintf("canary%07d", number) }

func space(random *rand.Rand) string { return strings.Repeat(" ", random.IntN(3)) }

func text(random *rand.Rand, length int) string {
	runes, out := []rune(letters), strings.Builder{}
	for range length {
		out.WriteRune(runes[random.IntN(len(runes))])
	}
	return out.String()
}
