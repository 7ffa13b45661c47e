//! sqlx over MySQL's protocol: statements prepared and cached, values binary.

use chrono::{NaiveDate, NaiveDateTime};
use fieldveil_clients::row::{self, Row};
use fieldveil_clients::{Client, Failure, Outcome, USER, batch, expect, prepared, run};
use rust_decimal::Decimal;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlSslMode};
use sqlx::{Connection, Executor, Row as _};
use uuid::fmt::Hyphenated;

const REFUSED: &str = "42000";
// MySQL has no type for an instant.
const COLUMNS: &str = "id, name, ssn, ref, email, born, balance, visits, score, active, made, extra, photo";
const SHORT: &str = "INSERT INTO person (id, ssn) VALUES (?, ?)";
const SSN_OF: &str = "SELECT ssn FROM person WHERE id = ?";

struct Sqlx(MySqlConnection);

impl Client for Sqlx {
    const NAME: &'static str = "sqlx-mysql";

    async fn connect() -> Result<Self, Failure> {
        let told = |name: &str| std::env::var(name).unwrap_or_default();
        let options = MySqlConnectOptions::new()
            .host(&told("MYSQL_HOST"))
            .port(told("MYSQL_PORT").parse().unwrap_or_default())
            .username(&told("MYSQL_USER"))
            .password(&told("MYSQL_PASSWORD"))
            .database(&told("MYSQL_DATABASE"))
            .ssl_mode(MySqlSslMode::Disabled);
        Ok(Self(MySqlConnection::connect_with(&options).await.map_err(failed)?))
    }

    async fn step(&mut self, name: &str) -> Outcome {
        match name {
            "connect" => self.current_user().await,
            "write" => self.insert(row::numbered(10)).await,
            "read" => self.read(row::first()).await,
            "search" => self.search().await,
            "update" => self.update().await,
            "upsert" => self.upsert().await,
            "batch" => self.batch().await,
            "prepared" => self.prepared().await,
            "binary" => {
                self.insert(row::numbered(300)).await?;
                self.read(row::numbered(300)).await
            }
            "transaction" => self.transaction().await,
            "null" => self.null().await,
            "refusal" => self.refusal().await,
            _ => Err(Failure::Absent("MySQL has no COPY")),
        }
    }
}

fn failed(error: sqlx::Error) -> Failure {
    let code = match &error {
        sqlx::Error::Database(server) => server.code().unwrap_or_default().into_owned(),
        _ => String::new(),
    };
    Failure::Driver { code, text: error.to_string() }
}

impl Sqlx {
    async fn current_user(&mut self) -> Outcome {
        let user: String =
            sqlx::query_scalar("SELECT CURRENT_USER()").fetch_one(&mut self.0).await.map_err(failed)?;
        expect("current_user", &user.split('@').next(), &Some(USER))
    }

    async fn insert(&mut self, it: Row) -> Outcome {
        let text = format!("INSERT INTO person ({COLUMNS}) VALUES (?{})", ", ?".repeat(12));
        let query = sqlx::query(sqlx::AssertSqlSafe(text)).bind(it.id).bind(it.name).bind(it.ssn);
        let query = query.bind(it.reference.hyphenated()).bind(it.email).bind(it.born).bind(it.balance);
        let query = query.bind(it.visits).bind(it.score).bind(it.active).bind(it.made).bind(it.extra);
        query.bind(it.photo).execute(&mut self.0).await.map_err(failed)?;
        Ok(())
    }

    async fn read(&mut self, wanted: Row) -> Outcome {
        let text = format!("SELECT {COLUMNS} FROM person WHERE id = ?");
        let query = sqlx::query(sqlx::AssertSqlSafe(text)).bind(wanted.id);
        let it = query.fetch_one(&mut self.0).await.map_err(failed)?;
        let got = Row {
            id: it.try_get(0).map_err(failed)?,
            name: it.try_get(1).map_err(failed)?,
            ssn: it.try_get(2).map_err(failed)?,
            reference: it.try_get::<Hyphenated, _>(3).map_err(failed)?.into_uuid(),
            email: it.try_get(4).map_err(failed)?,
            born: it.try_get(5).map_err(failed)?,
            balance: it.try_get(6).map_err(failed)?,
            visits: it.try_get(7).map_err(failed)?,
            score: it.try_get(8).map_err(failed)?,
            active: it.try_get(9).map_err(failed)?,
            seen: wanted.seen,
            made: it.try_get::<NaiveDateTime, _>(10).map_err(failed)?,
            extra: it.try_get(11).map_err(failed)?,
            photo: it.try_get(12).map_err(failed)?,
        };
        expect("row", &got, &wanted)
    }

    async fn search(&mut self) -> Outcome {
        let by_ref = sqlx::query_scalar::<_, i64>("SELECT id FROM person WHERE ref = ?");
        let by_ref = by_ref.bind(row::first().reference.hyphenated());
        expect("found by ref", &by_ref.fetch_all(&mut self.0).await.map_err(failed)?, &vec![1])?;
        for (ssn, wanted) in [(row::SSN, vec![1]), ("no", vec![])] {
            let by_ssn = sqlx::query_scalar::<_, i64>("SELECT id FROM person WHERE ssn = ?").bind(ssn);
            expect("found by ssn", &by_ssn.fetch_all(&mut self.0).await.map_err(failed)?, &wanted)?;
        }
        Ok(())
    }

    async fn update(&mut self) -> Outcome {
        short(&mut self.0, 2).await?;
        let query = sqlx::query("UPDATE person SET email = ?, balance = ? WHERE ssn = ?");
        let query = query.bind(row::NEW_EMAIL).bind(row::new_balance()).bind(row::ssn(2));
        query.execute(&mut self.0).await.map_err(failed)?;
        let query =
            sqlx::query_as::<_, (i64, String, Decimal)>("SELECT id, email, balance FROM person WHERE id = 2");
        let got = query.fetch_one(&mut self.0).await.map_err(failed)?;
        expect("read again", &got, &(2, row::NEW_EMAIL.into(), row::new_balance()))
    }

    async fn upsert(&mut self) -> Outcome {
        let text = "INSERT INTO person (id, ssn, email) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE email = VALUES(email)";
        for email in ["one@example.com", row::LAST_EMAIL] {
            let query = sqlx::query(text).bind(3i64).bind(row::ssn(3)).bind(email);
            query.execute(&mut self.0).await.map_err(failed)?;
        }
        let query = sqlx::query_scalar::<_, String>("SELECT email FROM person WHERE id = 3");
        expect("email", &query.fetch_one(&mut self.0).await.map_err(failed)?.as_str(), &row::LAST_EMAIL)
    }

    /// What sqlx has for many is one statement of many rows.
    async fn batch(&mut self) -> Outcome {
        let mut builder = sqlx::QueryBuilder::new("INSERT INTO person (id, ssn) ");
        builder.push_values(batch(), |mut values, id| {
            values.push_bind(id).push_bind(row::ssn(id));
        });
        builder.build().execute(&mut self.0).await.map_err(failed)?;
        for id in batch() {
            expect_ssn(&mut self.0, id, Some(&row::ssn(id))).await?;
        }
        Ok(())
    }

    /// From the second time on, the statement is taken from the cache.
    async fn prepared(&mut self) -> Outcome {
        for id in prepared() {
            short(&mut self.0, id).await?;
        }
        for id in prepared() {
            expect_ssn(&mut self.0, id, Some(&row::ssn(id))).await?;
        }
        Ok(())
    }

    async fn transaction(&mut self) -> Outcome {
        let mut undone = self.0.begin().await.map_err(failed)?;
        short(&mut undone, 400).await?;
        expect_ssn(&mut undone, 400, Some(&row::ssn(400))).await?;
        undone.rollback().await.map_err(failed)?;
        expect_ssn(&mut self.0, 400, None).await?;
        let mut kept = self.0.begin().await.map_err(failed)?;
        short(&mut kept, 401).await?;
        kept.commit().await.map_err(failed)?;
        expect_ssn(&mut self.0, 401, Some(&row::ssn(401))).await
    }

    async fn null(&mut self) -> Outcome {
        let insert = sqlx::query("INSERT INTO person (id, ssn, email, born) VALUES (500, ?, ?, ?)");
        let insert = insert.bind(None::<String>).bind("").bind(None::<NaiveDate>);
        insert.execute(&mut self.0).await.map_err(failed)?;
        type Read = (Option<String>, Option<String>, Option<NaiveDate>);
        let select = sqlx::query_as::<_, Read>("SELECT ssn, email, born FROM person WHERE id = 500");
        let got = select.fetch_one(&mut self.0).await.map_err(failed)?;
        expect("NULL, empty, NULL", &got, &(None, Some(String::new()), None))
    }

    async fn refusal(&mut self) -> Outcome {
        let error = sqlx::query("SELECT id FROM person ORDER BY ssn").fetch_all(&mut self.0).await.err();
        let code =
            error.as_ref().and_then(|error| error.as_database_error()).and_then(|server| server.code());
        expect("SQLSTATE", &code.as_deref(), &Some(REFUSED))?;
        expect_ssn(&mut self.0, 1, Some(row::SSN)).await
    }
}

async fn short(connection: &mut MySqlConnection, id: i64) -> Outcome {
    let query = sqlx::query(SHORT).bind(id).bind(row::ssn(id));
    connection.execute(query).await.map_err(failed)?;
    Ok(())
}

async fn expect_ssn(connection: &mut MySqlConnection, id: i64, wanted: Option<&str>) -> Outcome {
    let query = sqlx::query_scalar::<_, String>(SSN_OF).bind(id);
    let got = query.fetch_optional(connection).await.map_err(failed)?;
    expect("ssn", &got.as_deref(), &wanted)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    run::<Sqlx>().await;
}
