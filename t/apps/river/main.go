// River: its migrations there and back, unique jobs, workers, jobs that fail.
// Connects as libpq's variables say.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type args struct {
	N int `json:"n" river:"unique"`
}

func (args) Kind() string { return "work" }

type worker struct {
	river.WorkerDefaults[args]
	done, failed atomic.Int64
}

func (w *worker) Work(ctx context.Context, job *river.Job[args]) error {
	if job.Args.N%50 == 0 {
		w.failed.Add(1)
		return errors.New("on purpose")
	}
	w.done.Add(1)
	return nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/riverqueue/river" {
				fmt.Println("version:", strings.TrimPrefix(m.Version, "v"))
			}
		}
	}
	pool, err := pgxpool.New(ctx, "")
	check(err)
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: logger})
	check(err)
	for _, way := range []rivermigrate.Direction{rivermigrate.DirectionUp, rivermigrate.DirectionDown,
		rivermigrate.DirectionUp} {
		opts := &rivermigrate.MigrateOpts{}
		if way == rivermigrate.DirectionDown {
			opts.TargetVersion = -1
		}
		_, err = migrator.Migrate(ctx, way, opts)
		check(err)
	}
	w := &worker{}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(driver, &river.Config{Logger: logger, Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 8}}})
	check(err)
	twice := 0
	for i := 0; i < 400; i++ {
		res, err := client.Insert(ctx, args{N: 1 + i%300},
			&river.InsertOpts{Priority: 1 + i%4, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByArgs: true}})
		check(err)
		if res.UniqueSkippedAsDuplicate {
			twice++
		}
	}
	fmt.Println("skipped as duplicates", twice)
	check(client.Start(ctx))
	for deadline := time.Now().Add(2 * time.Minute); w.done.Load()+w.failed.Load() < 300 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	check(client.Stop(ctx))
	fmt.Println("done", w.done.Load(), "failed", w.failed.Load())
	rows, err := pool.Query(ctx, "SELECT state::text || ' ' || count(*) FROM river_job GROUP BY state ORDER BY 1")
	check(err)
	for rows.Next() {
		var line string
		check(rows.Scan(&line))
		fmt.Println(line)
	}
	check(rows.Err())
}
