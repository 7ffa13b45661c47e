// Command gorm is the client of the object mapper GORM over pgx. Its argument says how: `prepared` turns on
// GORM's own cache of prepared statements (PrepareStmt), `simple` has pgx write values into the text
// (PreferSimpleProtocol), which is what GORM's documentation advises behind a pooler.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/fieldveil/fieldveil/e2e/clients/go/steps"
)

// Person is the table as people map it.
type Person struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	Name    *string
	SSN     *string
	Ref     *string `gorm:"type:uuid"`
	Email   *string
	Born    *time.Time `gorm:"type:date"`
	Balance *string    `gorm:"type:numeric(12,2)"`
	Visits  *int32
	Score   *float64
	Active  *bool
	Seen    *time.Time
	Made    *time.Time `gorm:"type:timestamp"`
	Extra   *string    `gorm:"type:json"`
	Photo   []byte
}

// TableName is not the plural that GORM would make.
func (Person) TableName() string { return "person" }

func main() {
	way := "prepared"
	if len(os.Args) > 1 {
		way = os.Args[1]
	}
	steps.Run(steps.Client[*gorm.DB]{
		Name:    "gorm-" + way,
		Connect: func(context.Context) (*gorm.DB, error) { return open(way) },
		Close:   closeDB,
		Steps: map[string]func(context.Context, *gorm.DB) error{
			"connect": connect, "write": write, "read": read, "search": search, "update": update, "upsert": upsert,
			"batch": batch, "prepared": prepared(way), "binary": binary(way), "transaction": transaction, "null": null,
			"refusal": refusal, "copy_in": noCopy, "copy_out": noCopy,
		},
		SQLState: sqlState,
	})
}

func open(way string) (*gorm.DB, error) {
	// From the environment; not empty, which this package takes for a mistake.
	dialect := postgres.New(postgres.Config{DSN: "connect_timeout=15", PreferSimpleProtocol: way == "simple"})
	db, err := gorm.Open(dialect, &gorm.Config{
		PrepareStmt: way == "prepared",
		Logger:      logger.Default.LogMode(logger.Silent),
	})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	return db, nil
}

func closeDB(_ context.Context, db *gorm.DB) {
	if pool, err := db.DB(); err == nil {
		_ = pool.Close()
	}
}

func sqlState(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Code
	}
	return ""
}

func person(row steps.Row) *Person {
	extra := string(row.Extra)
	return &Person{
		ID: row.ID, Name: &row.Name, SSN: &row.SSN, Ref: &row.Ref, Email: &row.Email, Born: &row.Born,
		Balance: &row.Balance, Visits: &row.Visits, Score: &row.Score, Active: &row.Active, Seen: &row.Seen,
		Made: &row.Made, Extra: &extra, Photo: row.Photo,
	}
}

func same(got *Person, wanted steps.Row) error {
	for name, missing := range map[string]bool{
		"name": got.Name == nil, "ssn": got.SSN == nil, "ref": got.Ref == nil, "email": got.Email == nil,
		"born": got.Born == nil, "balance": got.Balance == nil, "visits": got.Visits == nil, "score": got.Score == nil,
		"active": got.Active == nil, "seen": got.Seen == nil, "made": got.Made == nil, "extra": got.Extra == nil,
	} {
		if missing {
			return fmt.Errorf("wrong %s: NULL", name)
		}
	}
	return steps.Same(steps.Row{
		ID: got.ID, Name: *got.Name, SSN: *got.SSN, Ref: *got.Ref, Email: *got.Email, Born: *got.Born,
		Balance: *got.Balance, Visits: *got.Visits, Score: *got.Score, Active: *got.Active, Seen: *got.Seen,
		Made: *got.Made, Extra: []byte(*got.Extra), Photo: got.Photo,
	}, wanted)
}

func short(id int64) *Person {
	ssn := steps.SSNFor(id)
	return &Person{ID: id, SSN: &ssn}
}

func connect(ctx context.Context, db *gorm.DB) error {
	var user string
	if err := db.WithContext(ctx).Raw("SELECT current_user").Scan(&user).Error; err != nil {
		return err
	}
	return steps.Expect("current_user", user, steps.User)
}

func write(ctx context.Context, db *gorm.DB) error {
	return db.WithContext(ctx).Create(person(steps.Numbered(10))).Error
}

func read(ctx context.Context, db *gorm.DB) error { return readRow(ctx, db, steps.First()) }

func readRow(ctx context.Context, db *gorm.DB, wanted steps.Row) error {
	var got Person
	if err := db.WithContext(ctx).First(&got, wanted.ID).Error; err != nil {
		return err
	}
	return same(&got, wanted)
}

func search(ctx context.Context, db *gorm.DB) error {
	for _, each := range []struct {
		column, value string
		wanted        []int64
	}{{"ssn", steps.SSN, []int64{1}}, {"ref", steps.Ref, []int64{1}}, {"ssn", "no", []int64{}}} {
		var ids []int64
		found := db.WithContext(ctx).Model(&Person{}).Where(map[string]any{each.column: each.value})
		if err := found.Pluck("id", &ids).Error; err != nil {
			return err
		}
		if err := steps.Expect(each.column, append([]int64{}, ids...), each.wanted); err != nil {
			return err
		}
	}
	return nil
}

func update(ctx context.Context, db *gorm.DB) error {
	if err := db.WithContext(ctx).Create(short(2)).Error; err != nil {
		return err
	}
	var changed []Person
	err := db.WithContext(ctx).Model(&changed).Clauses(clause.Returning{}).Where("ssn = ?", steps.SSNFor(2)).
		Updates(map[string]any{"email": steps.NewEmail, "balance": steps.NewBalance}).Error
	if err != nil {
		return err
	}
	if len(changed) != 1 || changed[0].Email == nil || changed[0].Balance == nil {
		return errors.New("wrong rows returned")
	}
	return steps.Expect("returned", []any{changed[0].ID, *changed[0].Email, *changed[0].Balance},
		[]any{int64(2), steps.NewEmail, steps.NewBalance})
}

func upsert(ctx context.Context, db *gorm.DB) error {
	for _, email := range []string{"one@example.com", steps.LastEmail} {
		one := short(3)
		one.Email = &email
		conflict := clause.OnConflict{
			Columns:   []clause.Column{{Name: "id"}},
			DoUpdates: clause.AssignmentColumns([]string{"email"}),
		}
		if err := db.WithContext(ctx).Clauses(conflict).Create(one).Error; err != nil {
			return err
		}
	}
	var got Person
	if err := db.WithContext(ctx).First(&got, 3).Error; err != nil {
		return err
	}
	if got.Email == nil {
		return errors.New("wrong email: NULL")
	}
	return steps.Expect("email", *got.Email, steps.LastEmail)
}

// One INSERT of all rows.
func batch(ctx context.Context, db *gorm.DB) error {
	var people []*Person
	for id := int64(steps.FirstOfBatch); id <= steps.LastOfBatch; id++ {
		people = append(people, short(id))
	}
	if err := db.WithContext(ctx).Create(people).Error; err != nil {
		return err
	}
	var got []Person
	between := db.WithContext(ctx).Where("id BETWEEN ? AND ?", steps.FirstOfBatch, steps.LastOfBatch).Order("id")
	if err := between.Find(&got).Error; err != nil {
		return err
	}
	if err := steps.Expect("number of rows", len(got), len(people)); err != nil {
		return err
	}
	for number, one := range got {
		if one.SSN == nil || *one.SSN != *people[number].SSN {
			return fmt.Errorf("wrong ssn of row %d", one.ID)
		}
	}
	return nil
}

func prepared(way string) func(context.Context, *gorm.DB) error {
	return func(ctx context.Context, db *gorm.DB) error {
		if way == "simple" {
			return steps.Absent("the values are in the text, so there is nothing to prepare")
		}
		for id := int64(steps.FirstOfPrepared); id <= steps.LastOfPrepared; id++ {
			if err := db.WithContext(ctx).Create(short(id)).Error; err != nil {
				return err
			}
		}
		for id := int64(steps.FirstOfPrepared); id <= steps.LastOfPrepared; id++ {
			if err := expectSSN(ctx, db, id, steps.SSNFor(id)); err != nil {
				return err
			}
		}
		return nil
	}
}

func expectSSN(ctx context.Context, db *gorm.DB, id int64, wanted string) error {
	var got Person
	if err := db.WithContext(ctx).Select("ssn").Take(&got, id).Error; err != nil {
		return err
	}
	if got.SSN == nil {
		return errors.New("wrong ssn: NULL")
	}
	return steps.Expect("ssn", *got.SSN, wanted)
}

// pgx below it sends and reads binary wherever it knows the types.
func binary(way string) func(context.Context, *gorm.DB) error {
	return func(ctx context.Context, db *gorm.DB) error {
		if way == "simple" {
			return steps.Absent("the simple protocol has text alone")
		}
		if err := db.WithContext(ctx).Create(person(steps.Numbered(300))).Error; err != nil {
			return err
		}
		return readRow(ctx, db, steps.Numbered(300))
	}
}

func transaction(ctx context.Context, db *gorm.DB) error {
	undo := errors.New("undo")
	err := db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Create(short(400)).Error; err != nil {
			return err
		}
		if err := expectSSN(ctx, tx, 400, steps.SSNFor(400)); err != nil {
			return err
		}
		return undo
	})
	if !errors.Is(err, undo) {
		return err
	}
	if err := expectSSN(ctx, db, 400, ""); !errors.Is(err, gorm.ErrRecordNotFound) {
		return errors.New("the row is there after the rollback")
	}
	err = db.WithContext(ctx).Transaction(func(tx *gorm.DB) error { return tx.Create(short(401)).Error })
	if err != nil {
		return err
	}
	return expectSSN(ctx, db, 401, steps.SSNFor(401))
}

func null(ctx context.Context, db *gorm.DB) error {
	empty := ""
	if err := db.WithContext(ctx).Create(&Person{ID: 500, Email: &empty}).Error; err != nil {
		return err
	}
	var got Person
	if err := db.WithContext(ctx).First(&got, 500).Error; err != nil {
		return err
	}
	if got.SSN != nil || got.Email == nil || *got.Email != "" || got.Born != nil {
		return errors.New("wrong NULL or empty string")
	}
	return nil
}

func refusal(ctx context.Context, db *gorm.DB) error {
	var people []Person
	err := db.WithContext(ctx).Order("ssn").Find(&people).Error
	if err := steps.Expect("SQLSTATE", sqlState(err), steps.Refused); err != nil {
		return err
	}
	return expectSSN(ctx, db, 1, steps.SSN)
}

func noCopy(context.Context, *gorm.DB) error { return steps.Absent("GORM has no COPY of its own") }
