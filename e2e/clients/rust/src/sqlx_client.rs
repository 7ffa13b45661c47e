//! sqlx: statements prepared by name and cached, values binary.

use chrono::NaiveDate;
use fieldveil_clients::row::{self, Copied, Row};
use fieldveil_clients::{Client, Failure, Outcome, REFUSED, USER, batch, expect, prepared, run};
use futures_util::TryStreamExt;
use rust_decimal::Decimal;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{Connection, Executor, Row as _};

struct Sqlx(PgConnection);

impl Client for Sqlx {
    const NAME: &'static str = "sqlx";

    async fn connect() -> Result<Self, Failure> {
        // The rest is from the environment.
        let options = PgConnectOptions::new().ssl_mode(PgSslMode::Disable);
        Ok(Self(PgConnection::connect_with(&options).await.map_err(failed)?))
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
            "copy_in" => self.copy_in().await,
            "copy_out" => self.copy_out().await,
            _ => Err(Failure::Absent("the program has no such step")),
        }
    }
}

fn failed(error: sqlx::Error) -> Failure {
    let code = match &error {
        sqlx::Error::Database(server) => server.code().unwrap_or_default().into_owned(),
        // All that sqlx tells of a session that the server ended.
        sqlx::Error::Io(_) => "08006".into(),
        _ => String::new(),
    };
    Failure::Driver { code, text: error.to_string() }
}

impl Sqlx {
    async fn current_user(&mut self) -> Outcome {
        let user: String =
            sqlx::query_scalar("SELECT current_user").fetch_one(&mut self.0).await.map_err(failed)?;
        expect("current_user", &user.as_str(), &USER)
    }

    async fn insert(&mut self, it: Row) -> Outcome {
        let query =
            sqlx::query(row::INSERT).bind(it.id).bind(it.name).bind(it.ssn).bind(it.reference).bind(it.email);
        let query = query.bind(it.born).bind(it.balance).bind(it.visits).bind(it.score).bind(it.active);
        let query = query.bind(it.seen).bind(it.made).bind(it.extra).bind(it.photo);
        query.execute(&mut self.0).await.map_err(failed)?;
        Ok(())
    }

    async fn read(&mut self, wanted: Row) -> Outcome {
        let it = sqlx::query(row::SELECT).bind(wanted.id).fetch_one(&mut self.0).await.map_err(failed)?;
        let got = Row {
            id: it.try_get(0).map_err(failed)?,
            name: it.try_get(1).map_err(failed)?,
            ssn: it.try_get(2).map_err(failed)?,
            reference: it.try_get(3).map_err(failed)?,
            email: it.try_get(4).map_err(failed)?,
            born: it.try_get(5).map_err(failed)?,
            balance: it.try_get(6).map_err(failed)?,
            visits: it.try_get(7).map_err(failed)?,
            score: it.try_get(8).map_err(failed)?,
            active: it.try_get(9).map_err(failed)?,
            seen: it.try_get(10).map_err(failed)?,
            made: it.try_get(11).map_err(failed)?,
            extra: it.try_get(12).map_err(failed)?,
            photo: it.try_get(13).map_err(failed)?,
        };
        expect("row", &got, &wanted)
    }

    async fn search(&mut self) -> Outcome {
        let by_ref = sqlx::query_scalar::<_, i64>(row::BY_REF).bind(row::first().reference);
        expect("found by ref", &by_ref.fetch_all(&mut self.0).await.map_err(failed)?, &vec![1])?;
        for (ssn, wanted) in [(row::SSN, vec![1]), ("no", vec![])] {
            let by_ssn = sqlx::query_scalar::<_, i64>(row::BY_SSN).bind(ssn);
            expect("found by ssn", &by_ssn.fetch_all(&mut self.0).await.map_err(failed)?, &wanted)?;
        }
        Ok(())
    }

    async fn update(&mut self) -> Outcome {
        short(&mut self.0, 2).await?;
        let query = sqlx::query_as::<_, (i64, String, Decimal)>(row::UPDATE);
        let query = query.bind(row::NEW_EMAIL).bind(row::new_balance()).bind(row::ssn(2));
        let got = query.fetch_one(&mut self.0).await.map_err(failed)?;
        expect("returned", &got, &(2, row::NEW_EMAIL.into(), row::new_balance()))
    }

    async fn upsert(&mut self) -> Outcome {
        for email in ["one@example.com", row::LAST_EMAIL] {
            let query = sqlx::query_scalar::<_, String>(row::UPSERT).bind(3i64).bind(row::ssn(3)).bind(email);
            expect("returned", &query.fetch_one(&mut self.0).await.map_err(failed)?.as_str(), &email)?;
        }
        let query = sqlx::query_scalar::<_, String>("SELECT email FROM person WHERE id = 3");
        expect("email", &query.fetch_one(&mut self.0).await.map_err(failed)?.as_str(), &row::LAST_EMAIL)
    }

    /// sqlx has no pipeline; what it has for many is one statement of many rows.
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

    /// From the second time on, the statement is taken from the cache by its name.
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
        let insert = sqlx::query("INSERT INTO person (id, ssn, email, born) VALUES (500, $1, $2, $3)");
        let insert = insert.bind(None::<String>).bind("").bind(None::<NaiveDate>);
        insert.execute(&mut self.0).await.map_err(failed)?;
        type Read = (Option<String>, Option<String>, Option<NaiveDate>);
        let select = sqlx::query_as::<_, Read>("SELECT ssn, email, born FROM person WHERE id = 500");
        let got = select.fetch_one(&mut self.0).await.map_err(failed)?;
        expect("NULL, empty, NULL", &got, &(None, Some(String::new()), None))
    }

    async fn refusal(&mut self) -> Outcome {
        let error = sqlx::query(row::ORDER_BY_SSN).fetch_all(&mut self.0).await.err();
        let code =
            error.as_ref().and_then(|error| error.as_database_error()).and_then(|server| server.code());
        expect("SQLSTATE", &code.as_deref(), &Some(REFUSED))?;
        expect_ssn(&mut self.0, 1, Some(row::SSN)).await
    }

    async fn copy_in(&mut self) -> Outcome {
        let text = "COPY person (id, name, email, ssn, born) FROM STDIN";
        let mut copy = self.0.copy_in_raw(text).await.map_err(failed)?;
        for (id, name, email, ssn, born) in row::to_copy() {
            let escape = |text: String| text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n");
            let born = born.map_or("\\N".to_owned(), |date| date.to_string());
            let line = format!("{id}\t{}\t{}\t{ssn}\t{born}\n", escape(name), escape(email));
            copy.send(line.as_bytes()).await.map_err(failed)?;
        }
        copy.finish().await.map_err(failed)?;
        let got =
            sqlx::query_as::<_, Copied>(row::SELECT_COPIED).fetch_all(&mut self.0).await.map_err(failed)?;
        expect("copied", &got, &row::to_copy())
    }

    async fn copy_out(&mut self) -> Outcome {
        let stream = self.0.copy_out_raw(row::COPY_OUT).await.map_err(failed)?;
        let chunks: Vec<bytes::Bytes> = stream.try_collect().await.map_err(failed)?;
        expect("row 1 among the copied", &row::is_copied_out(&chunks.concat()), &true)
    }
}

async fn short(connection: &mut PgConnection, id: i64) -> Outcome {
    let query = sqlx::query(row::SHORT).bind(id).bind(row::ssn(id));
    connection.execute(query).await.map_err(failed)?;
    Ok(())
}

async fn expect_ssn(connection: &mut PgConnection, id: i64, wanted: Option<&str>) -> Outcome {
    let query = sqlx::query_scalar::<_, String>(row::SSN_OF).bind(id);
    let got = query.fetch_optional(connection).await.map_err(failed)?;
    expect("ssn", &got.as_deref(), &wanted)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    run::<Sqlx>().await;
}
