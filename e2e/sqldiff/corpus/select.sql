SELECT ssn FROM customer WHERE ssn = 'x' OR ssn = 'y' AND NOT email = 'z'

SELECT ssn FROM customer WHERE ssn = 'x' = true

SELECT ssn FROM customer WHERE NOT ssn = 'x' IS NULL

SELECT ssn FROM customer WHERE id = 1 AND ssn = 'a' 'b'

SELECT ssn FROM customer WHERE ssn = 'a'
'b'

SELECT ssn FROM customer WHERE ssn = 'a' -- c
 'b'

SELECT ssn FROM customer WHERE ssn = E'a\
b'

SELECT ssn FROM customer WHERE ssn = E'\u0061' AND email = E'\'' AND name = E'\\'

SELECT ssn FROM customer WHERE ssn = U&'\0061' AND email = 'x'

SELECT ssn FROM customer WHERE ssn = U&'!0061' UESCAPE '!'

SELECT ssn FROM customer WHERE ssn = $$x$$ AND email = $a$ $$ '$a$

SELECT ssn FROM customer WHERE ssn = $é$x$é$

SELECT ssn FROM customer WHERE ssn = N'x'

SELECT ssn FROM customer WHERE ssn = n'x' AND email = e'y'

SELECT ssn FROM customer WHERE ssn=$1AND email='x'

SELECT ssn FROM customer WHERE ssn = $1 AND email = $2 AND phone IS NULL AND id = $3

SELECT ssn FROM customer WHERE ssn IN ($1, $2, $1) AND email <> $3

SELECT $1 FROM customer WHERE ssn = $1

SELECT ssn FROM customer WHERE ssn = $1 LIMIT $2 OFFSET $3

SELECT ssn FROM customer WHERE 'x' = ssn AND 'y' <> email

SELECT ssn FROM customer WHERE 'x' IN (ssn, email)

SELECT ssn FROM customer WHERE (ssn, email) = ('x', 'y')

SELECT ssn FROM customer WHERE (ssn, email) IN (('x', 'y'), ('z', 'w'))

SELECT ssn FROM customer WHERE ROW(ssn, id) = ROW('x', 1)

SELECT ssn FROM customer WHERE ssn = ANY('{a,b}')

SELECT ssn FROM customer WHERE ssn = ANY('{a,b}'::text[])

SELECT ssn FROM customer WHERE ssn = ANY($1::text[]) OR email <> ALL(ARRAY['x', $2])

SELECT ssn FROM customer WHERE ssn = ANY(ARRAY(SELECT ssn FROM person))

SELECT ssn FROM customer WHERE 'x' = ANY(ARRAY[ssn, email])

SELECT ssn FROM customer WHERE ssn = (SELECT 'x')

SELECT ssn FROM customer WHERE ssn = (SELECT p.ssn FROM person p LIMIT 1)

SELECT ssn FROM customer WHERE ssn = (VALUES ('x'))

SELECT ssn FROM customer WHERE ssn || '' = 'x'

SELECT ssn FROM customer WHERE ssn = 'x' || 'y'

SELECT ssn FROM customer WHERE ssn = 'x'::text || 'y'

SELECT ssn FROM customer WHERE ssn = - '5'

SELECT ssn FROM customer WHERE ssn = -5 AND email = - 5.0 AND id = -1

SELECT ssn FROM customer WHERE ssn = -5::text

SELECT ssn FROM customer WHERE ssn = (-5)::text AND email = '5'::int::text

SELECT ssn FROM customer WHERE ssn = '5'::int AND email = 5::smallint

SELECT ssn FROM customer WHERE ssn = 5e0 OR ssn = 5.0 OR ssn = 05

SELECT ssn FROM customer WHERE ssn = 99999999999999999999

SELECT ssn FROM customer WHERE ssn = 0x10 OR ssn = 0b11 OR ssn = 0o7 OR ssn = 1_0

SELECT ssn FROM customer WHERE ssn = true

SELECT ssn FROM customer WHERE ssn = 'x' COLLATE "C"

SELECT ssn COLLATE "C" FROM customer WHERE ssn COLLATE "C" = 'x'

SELECT ssn FROM customer WHERE ssn = date '2020-01-02' OR ssn = timestamp '2020-01-02 03:04:05'

SELECT ssn FROM customer WHERE ssn = interval '1' day

SELECT ssn FROM customer WHERE ssn = text 'x' AND email = varchar 'y'

SELECT ssn FROM customer WHERE ssn = CAST('x' AS text) AND email = CAST(CAST('7' AS int) AS text)

SELECT ssn FROM customer WHERE ssn = xml 'x'

SELECT ssn FROM customer WHERE ssn IS NOT DISTINCT FROM 'x' OR email IS DISTINCT FROM $1

SELECT ssn FROM customer WHERE ssn LIKE 'x' ESCAPE '!'

SELECT ssn FROM customer WHERE ssn BETWEEN 'a' AND 'b'

SELECT ssn FROM customer WHERE ssn SIMILAR TO 'x'

SELECT ssn FROM customer WHERE ssn OPERATOR(pg_catalog.=) 'x'

SELECT ssn FROM customer WHERE ssn OPERATOR(other.=) 'x'

SELECT ssn FROM customer WHERE ssn !~ 'x'

SELECT ssn FROM customer WHERE ssn ISNULL OR email NOTNULL

SELECT c FROM customer c

SELECT c.* FROM customer c, person p

SELECT (c).ssn FROM customer c

SELECT (c.*).ssn FROM customer c

SELECT c.*::text FROM customer c

SELECT row_to_json(c) FROM customer c

SELECT row(c.*) FROM customer c

SELECT to_jsonb(customer) FROM customer

SELECT customer FROM customer

SELECT array_agg(ssn) FROM customer

SELECT ARRAY(SELECT ssn FROM customer)

SELECT ARRAY[ssn] FROM customer

SELECT count(*), count(ssn), count(DISTINCT ssn), count(phone) FROM customer

SELECT count(DISTINCT phone) FROM customer

SELECT min(ssn) FROM customer

SELECT count(ssn) OVER (PARTITION BY email) FROM customer

SELECT rank() OVER (ORDER BY ssn) FROM customer

SELECT rank() OVER w FROM customer WINDOW w AS (PARTITION BY ssn)

SELECT ssn FROM customer ORDER BY ssn

SELECT ssn FROM customer ORDER BY 1

SELECT ssn AS id FROM customer ORDER BY id

SELECT id AS ssn FROM customer ORDER BY ssn

SELECT ssn AS x FROM customer GROUP BY x

SELECT phone FROM customer GROUP BY phone

SELECT id AS phone FROM customer GROUP BY phone

SELECT name, ssn FROM customer GROUP BY GROUPING SETS ((name), (ssn), ())

SELECT ssn FROM customer GROUP BY ROLLUP (ssn)

SELECT DISTINCT ssn, email FROM customer

SELECT DISTINCT phone FROM customer

SELECT DISTINCT ON (email) id FROM customer

SELECT DISTINCT * FROM customer

SELECT ssn FROM customer EXCEPT SELECT ssn FROM person

SELECT ssn FROM customer UNION SELECT 'x'

SELECT ssn FROM customer UNION ALL SELECT name FROM customer

SELECT ssn FROM customer UNION ALL SELECT email FROM customer

SELECT ssn FROM customer UNION ALL SELECT NULL

SELECT ssn FROM customer UNION ALL VALUES ('x')

(SELECT ssn FROM customer) UNION (SELECT ssn FROM hr.staff)

SELECT s FROM (SELECT ssn AS s FROM customer UNION ALL SELECT ssn FROM person) d WHERE s = 'x'

TABLE customer

TABLE person UNION TABLE person

VALUES ((SELECT ssn FROM customer LIMIT 1))

SELECT d.x FROM (SELECT ssn, email FROM customer) d(x, y) WHERE d.y = 'v'

SELECT ssn FROM customer AS c(a, b, d, ssn)

SELECT d FROM customer AS c(a, b, d, e) WHERE d = 'x' AND e = 'y'

SELECT ssn FROM (customer c JOIN person p USING (ssn)) j

SELECT ssn FROM customer JOIN person USING (ssn) WHERE ssn = 'x'

SELECT j.ssn FROM customer JOIN person USING (ssn) AS j WHERE j.ssn = 'x'

SELECT * FROM customer NATURAL JOIN person

SELECT * FROM customer FULL JOIN person USING (ssn)

SELECT * FROM customer c JOIN item i USING (ssn)

SELECT c.ssn FROM customer c JOIN item i ON c.ssn = i.ssn

SELECT i.ssn FROM customer c JOIN item i ON c.id = i.id WHERE i.ssn = 'x'

SELECT ssn FROM customer c JOIN item i ON c.id = i.id

SELECT id FROM item WHERE EXISTS (SELECT 1 FROM customer WHERE ssn = item.ssn)

SELECT sku FROM item WHERE ssn IN (SELECT ssn FROM customer)

SELECT sku, (SELECT ssn FROM customer c WHERE c.id = item.id) FROM item

SELECT (SELECT email FROM person LIMIT 1) FROM customer

SELECT (SELECT ssn FROM orders LIMIT 1) FROM customer

SELECT * FROM orders o, LATERAL (SELECT c.ssn FROM customer c WHERE c.id = o.customer_id AND c.email = 'x') l

SELECT * FROM customer c, LATERAL upper(c.ssn) u

SELECT * FROM customer c, unnest(ARRAY[c.ssn]) u

SELECT * FROM customer TABLESAMPLE bernoulli (10) WHERE ssn = 'x'

SELECT * FROM ONLY (customer) WHERE ssn = 'x'

SELECT * FROM customer * WHERE ssn = 'x'

SELECT * FROM json_to_recordset('[]') AS customer(ssn text) WHERE ssn = 'x'

WITH customer AS (SELECT * FROM other.customer) SELECT ssn FROM customer WHERE ssn = 'x'

WITH customer AS (SELECT * FROM customer) SELECT ssn FROM customer WHERE ssn = 'x'

WITH RECURSIVE customer AS (SELECT * FROM customer) SELECT ssn FROM customer

WITH a AS (SELECT ssn FROM customer), b AS (SELECT ssn FROM a WHERE ssn = 'x') SELECT * FROM b WHERE ssn <> 'y'

WITH a AS (SELECT 1), customer AS (SELECT 'x' AS ssn) SELECT ssn FROM public.customer WHERE ssn = 'y'

WITH a(s) AS (SELECT ssn FROM customer) SELECT upper(s) FROM a

WITH a(s) AS (SELECT name FROM customer) SELECT s FROM a WHERE s = 'plain'

WITH d AS (DELETE FROM customer WHERE ssn = 'x' RETURNING ssn) SELECT * FROM d WHERE ssn = 'y'

WITH d AS (INSERT INTO customer (ssn) VALUES ('x') RETURNING *) INSERT INTO person (ssn) SELECT ssn FROM d

WITH RECURSIVE t(s, n) AS (SELECT ssn, 1 FROM customer UNION ALL SELECT s, n + 1 FROM t WHERE n < 3) SELECT s FROM t WHERE s = 'x'

WITH RECURSIVE t(s, n) AS (SELECT ssn, 1 FROM customer UNION SELECT 'x', n + 1 FROM t WHERE n < 3) SELECT s FROM t

SELECT "SSN" FROM "Customer" WHERE "SSN" = 'x'

SELECT SSN FROM Customer WHERE Ssn = 'x'

SELECT "SSN" FROM customer

SELECT straße FROM größe WHERE straße = 'Weg' AND "straße" <> 'Gasse'

SELECT STRASSE FROM größe WHERE STRAßE = 'x'

SELECT "desc", "from" FROM "two words" WHERE "desc" = 'x'

SELECT U&"\0073sn" FROM customer WHERE U&"s\0073n" = 'x'

SELECT ssn FROM U&"\0063ustomer" WHERE ssn = 'x'

SELECT 1 AS ssn, 'customer' AS customer WHERE 'ssn' = 'x'

SELECT customer.ssn FROM other.customer WHERE customer.ssn = 'x'

SELECT customer.ssn FROM other.customer, public.customer

SELECT customer.ssn FROM item customer WHERE customer.ssn = 'x'

SELECT staff.ssn FROM hr.staff WHERE hr.staff.ssn = 'x'

SELECT ssn FROM staff WHERE ssn = 'x'

SELECT ssn FROM customer_view WHERE ssn = 'x'

SELECT ssn FROM customer_2024 WHERE ssn = 'x'

SELECT ssn FROM customer WHERE CURRENT_USER = 'x' AND ssn = current_user

SELECT CASE ssn WHEN 'x' THEN 1 WHEN 'y' THEN 2 END FROM customer

SELECT CASE WHEN ssn = 'x' THEN ssn END FROM customer

SELECT coalesce(ssn, 'none') FROM customer

SELECT nullif(ssn, 'x') FROM customer

SELECT greatest(ssn, 'x') FROM customer

SELECT ssn::text, ssn::varchar FROM customer

SELECT ssn::int FROM customer WHERE ssn::text = 'x'

SELECT ssn[1] FROM customer

SELECT extract(year FROM ssn::date) FROM customer

SELECT ssn IS DOCUMENT FROM customer

SELECT ssn AT TIME ZONE 'UTC' FROM customer

SELECT ssn IS JSON FROM customer

SELECT xmlelement(name x, ssn) FROM customer

SELECT json_object('a': ssn) FROM customer

SELECT overlay(ssn PLACING 'x' FROM 1) FROM customer

SELECT trim(ssn), substring(ssn FROM 1 FOR 2), position('x' IN ssn) FROM customer

SELECT (ssn = 'x')::int FROM customer

SELECT ssn, ssn = 'x', email <> ALL (ARRAY['y']) FROM customer

SELECT query_to_xml('SELECT * FROM customer', true, true, '')

SELECT ssn INTO t FROM customer

SELECT id INTO t FROM customer WHERE ssn = 'x'

SELECT ssn FROM customer FOR UPDATE OF customer NOWAIT

SELECT ssn FROM customer FETCH FIRST 2 ROWS WITH TIES

SELECT/**/ssn/**/FROM/**/customer/**/WHERE/**/ssn/**/=/**/'x'/**/

SELECT ssn FROM customer WHERE ssn = /* 'no' */ 'x' -- 'no'

SELECT ssn FROM customer -- WHERE ssn = 'no'
WHERE ssn = 'x'

SELECT ssn FROM customer WHERE ssn = '/*' AND email = '*/'

SELECT ssn FROM customer WHERE ssn = 'x'/* /* */ ' */AND email = 'y'

SELECT ssn FROM customer WHERE ssn = 'ü' AND email = '😀' AND name = 'é'

SELECT ssn FROM customer WHERE ssn = 'x';;; SELECT 1

SELECT ssn FROM customer WHERE ssn = 'x;'; SELECT ssn FROM customer WHERE ssn = ';y'

;

-- nothing

SELECT id, token FROM vault WHERE token = 'x' AND other <> $1

SELECT id FROM vault v WHERE v.token IN ('a', 'b') OR (token) = 'c' OR 'd' = v."token"

SELECT a.id FROM vault a JOIN vault b ON a.token = b.other

SELECT a.id FROM vault a JOIN vault b USING (token)

SELECT token = 'x', count(DISTINCT token) FROM vault GROUP BY token

SELECT id FROM vault WHERE token = ANY('{a,b}') OR token = ANY($1) OR token <> ALL(ARRAY['c'])

SELECT id FROM vault WHERE raw = 'x' AND raw IN ($1, '\x00') AND raw <> ALL ($2)

SELECT id FROM vault WHERE raw = token

SELECT id FROM vault WHERE token::text = 'x'

SELECT id FROM vault WHERE token IS DISTINCT FROM 'x' AND id = 1

SELECT id FROM vault WHERE CASE token WHEN 'x' THEN true END

SELECT id FROM (SELECT token AS t, id FROM vault) d WHERE d.t = 'x'

SELECT token FROM vault WHERE (token, other) = ('x', 'y')

SELECT token FROM vault UNION SELECT other FROM vault

SELECT token FROM vault UNION ALL SELECT other FROM vault

SELECT mail FROM contact WHERE mail = 'x'

SELECT * FROM contact c JOIN customer k ON k.email = c.mail

SELECT id FROM "two words", person WHERE "desc" = '007'::int AND "desc" = $1::int AND "Mixed" = '2020-1-2'::date AND "Mixed" = $2::text

SELECT id FROM "two words", person WHERE "desc" = '007'::date OR "Mixed" = $1::int

SELECT "desc"::int FROM "two words" WHERE "desc"::text = '7'

SELECT ssn::text FROM customer UNION ALL SELECT ssn FROM person

SELECT ssn::text || 'x', ssn::varchar(3) FROM customer

SELECT ssn FROM customer LEFT JOIN person USING (ssn)

SELECT ssn, * FROM customer FULL JOIN person USING (ssn)
