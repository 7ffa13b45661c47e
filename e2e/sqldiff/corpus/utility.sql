COPY customer FROM STDIN

COPY customer (id, ssn) FROM STDIN WITH (FORMAT csv, HEADER true, NULL 'x')

COPY customer TO STDOUT

COPY customer (name) TO STDOUT

COPY customer FROM '/tmp/f'

COPY customer TO PROGRAM 'cat'

COPY customer FROM STDIN WHERE ssn = 's'

COPY (SELECT ssn FROM customer WHERE ssn = 's') TO STDOUT

COPY (SELECT upper(ssn) FROM customer) TO STDOUT

COPY (INSERT INTO customer (ssn) VALUES ('s') RETURNING ssn) TO STDOUT

COPY (SELECT ssn FROM customer) TO '/tmp/f'

COPY log FROM STDIN

COPY hr.staff (ssn) FROM STDIN

COPY customer_view TO STDOUT

PREPARE p AS SELECT ssn FROM customer WHERE ssn = $1

PREPARE p (text) AS INSERT INTO customer (ssn) VALUES ($1), ('s')

PREPARE p (text) AS INSERT INTO customer (ssn, name) VALUES ($1, $1)

PREPARE p AS INSERT INTO customer (ssn) VALUES ($1); EXECUTE p('s')

EXECUTE p('s')

DEALLOCATE customer

DECLARE k CURSOR FOR SELECT ssn FROM customer WHERE ssn = 's'

DECLARE k SCROLL CURSOR WITH HOLD FOR SELECT upper(ssn) FROM customer

FETCH NEXT FROM customer

MOVE 5 IN k

EXPLAIN (ANALYZE, FORMAT json) UPDATE customer SET ssn = 's'

EXPLAIN SELECT upper(ssn) FROM customer

EXPLAIN ANALYZE EXECUTE p('s')

CREATE TABLE t AS SELECT ssn FROM customer

CREATE TABLE t AS SELECT id FROM customer WHERE ssn = 's'

CREATE VIEW v AS SELECT id FROM customer WHERE ssn = 's'

CREATE VIEW v AS SELECT * FROM customer

CREATE MATERIALIZED VIEW v AS SELECT ssn FROM customer

CREATE TABLE planned (ssn text)

CREATE TABLE planned AS SELECT 's' AS ssn

CREATE TABLE planned (ssn text); INSERT INTO planned VALUES ('s')

CREATE TABLE t (s text DEFAULT 's', FOREIGN KEY (s) REFERENCES customer (ssn))

CREATE TABLE t PARTITION OF customer FOR VALUES IN (1)

CREATE INDEX ON customer (ssn)

CREATE INDEX ON customer USING hash (ssn)

CREATE INDEX ON customer (upper(ssn))

CREATE INDEX ON customer (id) WHERE ssn = 's'

CREATE INDEX ON customer (ssn text_pattern_ops)

CREATE TRIGGER t BEFORE INSERT ON customer FOR EACH ROW WHEN (new.ssn = 's') EXECUTE FUNCTION f()

CREATE POLICY p ON customer USING (ssn = current_user)

CREATE RULE r AS ON SELECT TO log DO INSTEAD SELECT * FROM customer

CREATE STATISTICS s ON ssn, email FROM customer

CREATE FUNCTION f() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT ssn FROM customer; END

CREATE FUNCTION f() RETURNS text LANGUAGE sql AS 'SELECT ssn FROM customer'

DO 'BEGIN DELETE FROM customer; END'

ALTER TABLE customer RENAME TO kunde

ALTER TABLE customer RENAME TO kunde; INSERT INTO kunde (ssn) VALUES ('s')

ALTER TABLE log RENAME TO customer; INSERT INTO customer (ssn) VALUES ('s')

ALTER TABLE customer RENAME ssn TO s; SELECT s FROM customer

ALTER TABLE customer ALTER ssn SET DEFAULT 's'

ALTER TABLE customer ALTER ssn TYPE varchar USING upper(ssn)

ALTER TABLE customer ADD CHECK (ssn <> 's')

ALTER TABLE customer ADD COLUMN c text

ALTER TABLE customer ATTACH PARTITION log FOR VALUES IN (1)

ALTER TABLE customer SET SCHEMA other

ALTER SCHEMA public RENAME TO x

DROP TABLE customer; CREATE TABLE customer (ssn text); INSERT INTO customer (ssn) VALUES ('s')

TRUNCATE customer, orders

COMMENT ON COLUMN customer.ssn IS 's'

SECURITY LABEL ON TABLE customer IS 's'

GRANT SELECT (ssn) ON customer TO PUBLIC

SET search_path = other; SELECT ssn FROM customer WHERE ssn = 's'

SET LOCAL search_path TO other; INSERT INTO customer (ssn) VALUES ('s')

SELECT set_config('search_path', 'other', false); SELECT ssn FROM customer WHERE ssn = 's'

SELECT pg_catalog.set_config('standard_conforming_strings', 'off', false)

SET standard_conforming_strings = off; INSERT INTO customer (ssn) VALUES ('\'')

SET STANDARD_CONFORMING_STRINGS TO 'off'

SET "standard_conforming_strings" = 0

SET SESSION standard_conforming_strings = on

ALTER ROLE app SET standard_conforming_strings = off

UPDATE pg_settings SET setting = 'off' WHERE name = 'standard_conforming_strings'

RESET standard_conforming_strings

BEGIN; INSERT INTO customer (ssn) VALUES ('s'); COMMIT

BEGIN; SELECT 1; INSERT INTO customer (ssn) VALUES ($1); END

SELECT 1; SELECT ssn FROM customer WHERE ssn = 's'; SELECT 2

CALL f((SELECT ssn FROM customer))

CALL f('s')

LOCK TABLE customer IN EXCLUSIVE MODE

NOTIFY customer, 's'

SHOW customer.ssn

SET customer.ssn = 's'

SAVEPOINT customer; ROLLBACK TO customer; RELEASE customer

CREATE SCHEMA s CREATE VIEW v AS SELECT ssn FROM customer

CREATE TABLE t (LIKE customer INCLUDING ALL)

REFRESH MATERIALIZED VIEW customer_view

VACUUM (ANALYZE) customer (ssn)

SELECT ssn FROM customer WHERE ssn = 'unfinished

INSERT INTO customer (ssn VALUES ('s')

SELEC ssn FROM customer

INSERT customer (ssn) VALUES ('s')

REPLACE INTO customer (ssn) VALUES ('s')

INSERT INTO customer SET ssn = 's'

SELECT ssn FROM customer WHERE ssn == 's'

SELECT ssn FROM customer WHERE ssn = "s"

SELECT ssn FROM customer WHERE ssn = `s`

SELECT TOP 1 ssn FROM customer

SELECT ssn FROM customer LIMIT 1, 2

COPY contact TO STDOUT

COPY vault (token, id) TO STDOUT WITH (FORMAT csv, DELIMITER ';', QUOTE '"', FORCE_QUOTE *)

COPY (SELECT ssn FROM customer UNION SELECT ssn FROM person) TO STDOUT

PREPARE p AS SELECT id FROM customer WHERE ssn = ANY($1); EXECUTE p('{a,b}')

PREPARE p AS UPDATE customer SET ssn = $1 WHERE ssn = $1; EXECUTE p('x')

PREPARE p AS UPDATE customer SET ssn = $1 WHERE email = $2; EXECUTE p('x', 'y'); DEALLOCATE p; EXECUTE p('z', 'w')
