//! tokio-postgres: statements prepared by name, values binary.

use std::env;

use bytes::Bytes;
use fieldveil_clients::row::{self, Copied, Row};
use fieldveil_clients::{Client, Failure, Outcome, REFUSED, USER, batch, expect, prepared, run};
use futures_util::{TryStreamExt, future, pin_mut};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, NoTls};

struct TokioPostgres(tokio_postgres::Client);

impl Client for TokioPostgres {
    const NAME: &'static str = "tokio-postgres";

    async fn connect() -> Result<Self, Failure> {
        let given = |name| env::var(name).unwrap_or_default();
        let (client, connection) = Config::new()
            .host(given("PGHOST"))
            .port(given("PGPORT").parse().unwrap_or(5432))
            .user(given("PGUSER"))
            .password(given("PGPASSWORD"))
            .dbname(given("PGDATABASE"))
            .connect(NoTls)
            .await
            .map_err(failed)?;
        tokio::spawn(connection);
        Ok(Self(client))
    }

    async fn step(&mut self, name: &str) -> Outcome {
        match name {
            "connect" => self.current_user().await,
            "write" => self.insert(&row::numbered(10)).await,
            "read" => self.read(&row::first()).await,
            "search" => self.search().await,
            "update" => self.update().await,
            "upsert" => self.upsert().await,
            "batch" => self.batch().await,
            "prepared" => self.prepared().await,
            "binary" => {
                self.insert(&row::numbered(300)).await?;
                self.read(&row::numbered(300)).await
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

fn failed(error: tokio_postgres::Error) -> Failure {
    let code = error.code().map(|code| code.code().to_owned()).unwrap_or_default();
    let text = error.as_db_error().map_or_else(|| error.to_string(), |server| server.message().to_owned());
    Failure::Driver { code, text }
}

impl TokioPostgres {
    async fn current_user(&self) -> Outcome {
        let found = self.0.query_one("SELECT current_user", &[]).await.map_err(failed)?;
        expect("current_user", &found.get::<_, String>(0).as_str(), &USER)
    }

    async fn insert(&self, it: &Row) -> Outcome {
        let values: [&(dyn ToSql + Sync); 14] = [
            &it.id,
            &it.name,
            &it.ssn,
            &it.reference,
            &it.email,
            &it.born,
            &it.balance,
            &it.visits,
            &it.score,
            &it.active,
            &it.seen,
            &it.made,
            &it.extra,
            &it.photo,
        ];
        self.0.execute(row::INSERT, &values).await.map_err(failed)?;
        Ok(())
    }

    async fn read(&self, wanted: &Row) -> Outcome {
        let it = self.0.query_one(row::SELECT, &[&wanted.id]).await.map_err(failed)?;
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
        expect("row", &got, wanted)
    }

    async fn search(&self) -> Outcome {
        let first = row::first();
        let searches: [(&str, &(dyn ToSql + Sync), Vec<i64>); 3] = [
            (row::BY_SSN, &row::SSN, vec![1]),
            (row::BY_REF, &first.reference, vec![1]),
            (row::BY_SSN, &"no", vec![]),
        ];
        for (text, value, wanted) in searches {
            let found = self.0.query(text, &[value]).await.map_err(failed)?;
            expect(text, &found.iter().map(|it| it.get(0)).collect(), &wanted)?;
        }
        Ok(())
    }

    async fn update(&self) -> Outcome {
        self.short(2).await?;
        let values: [&(dyn ToSql + Sync); 3] = [&row::NEW_EMAIL, &row::new_balance(), &row::ssn(2)];
        let it = self.0.query_one(row::UPDATE, &values).await.map_err(failed)?;
        expect("returned", &(it.get(0), it.get(1), it.get(2)), &(2i64, row::NEW_EMAIL, row::new_balance()))
    }

    async fn short(&self, id: i64) -> Outcome {
        self.0.execute(row::SHORT, &[&id, &row::ssn(id)]).await.map_err(failed)?;
        Ok(())
    }

    async fn expect_ssn(&self, id: i64, wanted: Option<&str>) -> Outcome {
        let found = self.0.query_opt(row::SSN_OF, &[&id]).await.map_err(failed)?;
        expect("ssn", &found.map(|it| it.get::<_, String>(0)).as_deref(), &wanted)
    }

    async fn upsert(&self) -> Outcome {
        for email in ["one@example.com", row::LAST_EMAIL] {
            let it = self.0.query_one(row::UPSERT, &[&3i64, &row::ssn(3), &email]).await.map_err(failed)?;
            expect("returned", &it.get(0), &email)?;
        }
        let it = self.0.query_one("SELECT email FROM person WHERE id = 3", &[]).await.map_err(failed)?;
        expect("email", &it.get(0), &row::LAST_EMAIL)
    }

    /// Futures that are waited for together are sent in one pipeline.
    async fn batch(&self) -> Outcome {
        future::try_join_all(batch().map(|id| self.short(id))).await?;
        let wanted: Vec<_> = batch().map(|id| (id, row::ssn(id))).collect();
        future::try_join_all(wanted.iter().map(|(id, ssn)| self.expect_ssn(*id, Some(ssn)))).await?;
        Ok(())
    }

    async fn prepared(&self) -> Outcome {
        let put = self.0.prepare(row::SHORT).await.map_err(failed)?;
        expect("types", &put.params(), &[Type::INT8, Type::TEXT].as_slice())?;
        let get = self.0.prepare(row::SSN_OF).await.map_err(failed)?;
        for id in prepared() {
            self.0.execute(&put, &[&id, &row::ssn(id)]).await.map_err(failed)?;
        }
        for id in prepared() {
            let it = self.0.query_one(&get, &[&id]).await.map_err(failed)?;
            expect("ssn", &it.get(0), &row::ssn(id))?;
        }
        Ok(())
    }

    async fn transaction(&mut self) -> Outcome {
        let undone = self.0.transaction().await.map_err(failed)?;
        undone.execute(row::SHORT, &[&400i64, &row::ssn(400)]).await.map_err(failed)?;
        let it = undone.query_one(row::SSN_OF, &[&400i64]).await.map_err(failed)?;
        expect("before the rollback", &it.get(0), &row::ssn(400))?;
        undone.rollback().await.map_err(failed)?;
        self.expect_ssn(400, None).await?;
        let kept = self.0.transaction().await.map_err(failed)?;
        kept.execute(row::SHORT, &[&401i64, &row::ssn(401)]).await.map_err(failed)?;
        kept.commit().await.map_err(failed)?;
        self.expect_ssn(401, Some(&row::ssn(401))).await
    }

    async fn null(&self) -> Outcome {
        let text = "INSERT INTO person (id, ssn, email, born) VALUES (500, $1, $2, $3)";
        let none = (None::<String>, None::<chrono::NaiveDate>);
        self.0.execute(text, &[&none.0, &"", &none.1]).await.map_err(failed)?;
        let it = self
            .0
            .query_one("SELECT ssn, email, born FROM person WHERE id = 500", &[])
            .await
            .map_err(failed)?;
        expect(
            "NULL, empty, NULL",
            &(it.get(0), it.get(1), it.get(2)),
            &(none.0, Some(String::new()), none.1),
        )
    }

    async fn refusal(&self) -> Outcome {
        let code = self.0.query(row::ORDER_BY_SSN, &[]).await.err().and_then(|error| error.code().cloned());
        expect("SQLSTATE", &code.as_ref().map(|code| code.code()), &Some(REFUSED))?;
        self.expect_ssn(1, Some(row::SSN)).await
    }

    async fn copy_in(&self) -> Outcome {
        let text = "COPY person (id, name, email, ssn, born) FROM STDIN BINARY";
        let sink = self.0.copy_in::<_, Bytes>(text).await.map_err(failed)?;
        let writer =
            BinaryCopyInWriter::new(sink, &[Type::INT8, Type::TEXT, Type::TEXT, Type::TEXT, Type::DATE]);
        pin_mut!(writer);
        for (id, name, email, ssn, born) in row::to_copy() {
            writer.as_mut().write(&[&id, &name, &email, &ssn, &born]).await.map_err(failed)?;
        }
        writer.finish().await.map_err(failed)?;
        let found = self.0.query(row::SELECT_COPIED, &[]).await.map_err(failed)?;
        let got: Vec<Copied> =
            found.iter().map(|it| (it.get(0), it.get(1), it.get(2), it.get(3), it.get(4))).collect();
        expect("copied", &got, &row::to_copy())
    }

    async fn copy_out(&self) -> Outcome {
        let stream = self.0.copy_out(row::COPY_OUT).await.map_err(failed)?;
        let chunks: Vec<Bytes> = stream.try_collect().await.map_err(failed)?;
        expect("row 1 among the copied", &row::is_copied_out(&chunks.concat()), &true)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    run::<TokioPostgres>().await;
}
