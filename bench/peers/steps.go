// Three steps of work, one after the other, for COUNT pieces of work, as steps.mjs does it.
//
//	steps river DATABASE_URL COUNT
//
// Prints {"steps": n, "seconds": s}.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const steps = 3

// State of a piece of work, as wide as the sample component's.
type State struct {
	ID       int     `json:"id"`
	Step     int     `json:"step"`
	Note     *string `json:"note"`
	Customer string  `json:"customer"`
	Product  string  `json:"product"`
	Quantity int     `json:"quantity"`
	Price    string  `json:"price"`
	Paid     bool    `json:"paid"`
	City     string  `json:"city"`
	Street   string  `json:"street"`
	Remark   *string `json:"remark"`
}

// Kind names the job.
func (State) Kind() string { return "step" }

func begin(id int) State {
	return State{
		ID: id, Customer: "ann", Product: "tea", Quantity: 3, Price: "12.50",
		City: "Paris", Street: "Rue Monge 12",
	}
}

func (state State) advance() State {
	note := fmt.Sprintf("step %d of %d for %s", state.Step, state.ID, state.Customer)
	state.Note = &note
	state.Step++
	return state
}

type worker struct {
	river.WorkerDefaults[State]
}

// Work does one step and inserts the job of the next.
func (worker) Work(ctx context.Context, job *river.Job[State]) error {
	state := job.Args.advance()
	if state.Step == steps {
		return nil
	}
	_, err := river.ClientFromContext[pgx.Tx](ctx).Insert(ctx, state, nil)
	return err
}

func runRiver(ctx context.Context, pool *pgxpool.Pool, count int) time.Duration {
	driver := riverpgxv5.New(pool)
	migrator := must(rivermigrate.New(driver, nil))
	must(migrator.Migrate(ctx, rivermigrate.DirectionUp, nil))
	workers := river.NewWorkers()
	river.AddWorker(workers, worker{})
	client := must(river.NewClient(driver, &river.Config{
		// As in its own benchmark; with the defaults a queue fetches ten times a second.
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Logger:            slog.New(slog.DiscardHandler),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}},
		Workers:           workers,
	}))
	completed, cancel := client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: count * steps,
		Kinds:    []river.EventKind{river.EventKindJobCompleted},
	})
	defer cancel()
	check(client.Start(ctx))
	begun := time.Now()
	for at := 0; at < count; at += 500 {
		var jobs []river.InsertManyParams
		for id := at; id < min(at+500, count); id++ {
			jobs = append(jobs, river.InsertManyParams{Args: begin(id)})
		}
		must(client.InsertManyFast(ctx, jobs))
	}
	for range count * steps {
		<-completed
	}
	took := time.Since(begun)
	check(client.Stop(ctx))
	return took
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func main() {
	if len(os.Args) != 4 || os.Args[1] != "river" {
		log.Fatal("usage: steps river DATABASE_URL COUNT")
	}
	ctx := context.Background()
	count := must(strconv.Atoi(os.Args[3]))
	config := must(pgxpool.ParseConfig(os.Args[2]))
	config.MaxConns = 10
	pool := must(pgxpool.NewWithConfig(ctx, config))
	defer pool.Close()
	took := runRiver(ctx, pool, count)
	fmt.Printf("{\"steps\": %d, \"seconds\": %f}\n", count*steps, took.Seconds())
}
