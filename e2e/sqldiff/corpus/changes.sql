INSERT INTO customer VALUES (1, 'n', 'e', 's', 'p', 'c', 'o')

INSERT INTO customer VALUES (1, 'n', 'e', 's', 'p', 'c', 'o', 'too many')

INSERT INTO customer (ssn, id) VALUES ('s', 1), ('t', 2)

INSERT INTO customer (id, ssn) VALUES (1, 's'), (2)

INSERT INTO customer (id, ssn) VALUES (1, DEFAULT)

INSERT INTO customer DEFAULT VALUES

INSERT INTO customer (id, ssn) OVERRIDING USER VALUE VALUES (1, 's')

INSERT INTO customer AS c (ssn) VALUES ('s') RETURNING c.ssn, id

INSERT INTO customer (ssn) VALUES ('s') RETURNING *, ssn || 'x'

INSERT INTO customer (ssn) VALUES (('s')), ((('t')))

INSERT INTO customer (ssn) VALUES (('s'::text)), (CAST(('t') AS varchar))

INSERT INTO customer (ssn) VALUES (-1), (- 1), (-(1)), (+1), (- -1)

INSERT INTO customer (ssn) VALUES (1.10), (1.), (.1), (1e2), (00), (-0), (-0.0), (1E-2)

INSERT INTO customer (ssn) VALUES ('a' 'b')

INSERT INTO customer (ssn) VALUES (E'\x41\102\u0043\U00000044')

INSERT INTO customer (ssn) VALUES ('1'::int), (' 1 '::int), ('01'::int), ('+1'::int)

INSERT INTO customer (ssn) VALUES ('1.0'::numeric), ('1e1'::numeric), ('1.10'::numeric(3,1))

INSERT INTO customer (ssn) VALUES ('t'::bool), ('true'::bool), (true), ('yes'::boolean)

INSERT INTO customer (ssn) VALUES ('2020-1-2'::date), ('2020-01-02'::date), ('20200102'::date)

INSERT INTO customer (ssn) VALUES ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid)

INSERT INTO customer (ssn) VALUES ('abcdef'::varchar(3)), ('abc'::char(5)), ('abc'::"char"), ('abc'::bpchar)

INSERT INTO customer (ssn) VALUES (NULL), (NULL::text), (CAST(NULL AS int))

INSERT INTO customer (ssn) VALUES ($1::text), ($2), (($3))

INSERT INTO customer (ssn, email) VALUES ($1, $1)

INSERT INTO customer (ssn, name) VALUES ($1, $1)

INSERT INTO customer (ssn, name) VALUES ($1, $2) ON CONFLICT (ssn) DO UPDATE SET name = $2, ssn = $1

INSERT INTO customer (ssn) SELECT 's'

INSERT INTO customer (ssn, name) SELECT 's', 'n' UNION ALL SELECT 't', 'm'

INSERT INTO customer (ssn) SELECT ssn FROM person

INSERT INTO customer (ssn) SELECT email FROM customer

INSERT INTO customer (name) SELECT ssn FROM customer

INSERT INTO customer (ssn) SELECT name FROM customer

INSERT INTO customer (ssn) SELECT sku FROM item

INSERT INTO customer SELECT * FROM customer

INSERT INTO person SELECT id, ssn, email, name FROM customer

INSERT INTO person (id, ssn) SELECT id, ssn FROM customer WHERE email = 'x'

INSERT INTO customer (ssn) SELECT x FROM (VALUES ('s')) v(x)

INSERT INTO customer (name, ssn) SELECT p0, p1::varchar FROM (VALUES ($1, $2::text, 0), ($3, 's', 1)) v(p0, p1, n) ORDER BY n

INSERT INTO customer (ssn) SELECT x FROM (VALUES ('007'), (8)) v(x)

INSERT INTO customer (ssn) SELECT x::int FROM (VALUES ('007'), ('8')) v(x)

INSERT INTO customer (name, ssn) SELECT x, x FROM (VALUES ('s')) v(x)

INSERT INTO customer (ssn) SELECT x FROM (VALUES ('s')) v(x) WHERE x > 'a'

INSERT INTO customer (ssn) SELECT v.x FROM (VALUES ('s'), (NULL)) v(x), item

UPDATE customer SET ssn = (CASE WHEN id = $1 THEN $2 WHEN id = 2 THEN 's' ELSE NULL END)::text

UPDATE customer SET ssn = CASE id WHEN 1 THEN 's' ELSE ssn END::varchar WHERE id < 9

UPDATE customer SET ssn = (CASE WHEN id = 1 THEN '007' END)::int

UPDATE customer SET ssn = (CASE WHEN id = 1 THEN 's' END)::varchar(3)

INSERT INTO customer (name, ssn) SELECT * FROM unnest($1::text[], $2::varchar[])

INSERT INTO customer (name, ssn) SELECT * FROM unnest(ARRAY['a'], '{b,c}'::text[])

INSERT INTO customer (name, ssn) SELECT * FROM unnest($1::text[], string_to_array('a', ','))

INSERT INTO customer (ssn) SELECT $1

INSERT INTO customer (ssn) SELECT $1 WHERE $1 <> ''

INSERT INTO customer (ssn) TABLE other.customer

INSERT INTO customer (ssn) (SELECT 's')

INSERT INTO customer (ssn) VALUES ('s') ORDER BY 1

INSERT INTO customer (ssn) WITH w AS (SELECT 1) VALUES ('s')

INSERT INTO log (x) SELECT ssn FROM customer

INSERT INTO log (x) SELECT id FROM customer WHERE ssn = 's'

INSERT INTO log (x) VALUES ((SELECT ssn FROM customer))

INSERT INTO log (x) SELECT customer FROM customer

INSERT INTO other.customer (ssn) VALUES ('plain')

INSERT INTO hr.staff (ssn) VALUES ('s')

INSERT INTO hr.staff (ssn, badge) VALUES ('s', 'b')

INSERT INTO blob (data) VALUES ('\x00ff'), ('\x00FF'), ('abc'::bytea), ('\x00ff'::bytea)

INSERT INTO blob (wrong) VALUES (NULL)

INSERT INTO computed (id) VALUES (1)

INSERT INTO "Customer" VALUES (1, 's')

INSERT INTO "two words" VALUES (1, 's')

INSERT INTO größe VALUES (1, 'Weg')

INSERT INTO größe(straße)VALUES('Weg')

INSERT INTO customer(ssn)VALUES('s')ON CONFLICT DO NOTHING

INSERT INTO customer (id, ssn) VALUES (1, 's') ON CONFLICT (id) DO UPDATE SET ssn = 't' WHERE customer.ssn = 'u' AND excluded.ssn <> 'v'

INSERT INTO customer (id, ssn) VALUES (1, 's') ON CONFLICT (id) DO UPDATE SET name = excluded.ssn

INSERT INTO customer (id, ssn) VALUES (1, 's') ON CONFLICT (id) DO UPDATE SET (ssn, email) = (excluded.ssn, 'e')

INSERT INTO customer (id, ssn) VALUES (1, 's') ON CONFLICT (id) DO UPDATE SET (ssn, email) = (SELECT 's', 'e')

INSERT INTO customer (id, ssn) VALUES (1, 's') ON CONFLICT (id) DO UPDATE SET ssn = excluded.email

INSERT INTO customer (phone) VALUES ('s') ON CONFLICT (phone) DO NOTHING

INSERT INTO customer (ssn[1]) VALUES ('s')

UPDATE customer SET ssn = 's'

UPDATE customer SET ssn = 's', email = 'e', name = 'n' WHERE ssn = 'o' RETURNING ssn

UPDATE customer SET ssn = upper('s')

UPDATE customer SET ssn = name

UPDATE customer SET name = ssn

UPDATE customer SET ssn = ssn || 'x'

UPDATE customer SET ssn = email

UPDATE customer SET ssn = p.ssn FROM person p WHERE p.id = customer.id AND p.ssn <> 'x'

UPDATE customer c SET ssn = i.ssn FROM item i

UPDATE item SET ssn = c.ssn FROM customer c

UPDATE item SET ssn = 'plain' FROM customer c WHERE c.ssn = 's'

UPDATE item SET ssn = 'plain' WHERE ssn = 'plain'

UPDATE customer SET (ssn, name) = ('s', 'n')

UPDATE customer SET (ssn, name) = ROW('s', 'n')

UPDATE customer SET (ssn, name) = (SELECT 's', 'n')

UPDATE customer SET (ssn, name) = (SELECT p.ssn, p.city FROM person p)

UPDATE customer SET (name, ssn) = (SELECT p.ssn, p.city FROM person p)

UPDATE customer SET ssn = (SELECT p.ssn FROM person p WHERE p.id = customer.id)

UPDATE customer SET ssn = NULL WHERE ssn = NULL

UPDATE customer SET ssn = CASE WHEN id = 1 THEN 's' ELSE 't' END

UPDATE customer SET ssn = 's' WHERE CURRENT OF k

UPDATE ONLY customer SET ssn = 's' WHERE ssn IN (SELECT ssn FROM person WHERE "Mixed" = 'm')

UPDATE customer SET ssn='s'WHERE id=1

UPDATE computed SET id = 2

UPDATE customer SET ssn = $1 WHERE ssn = $1

UPDATE customer SET ssn = $1, name = $1

UPDATE customer SET ssn[1] = 's'

UPDATE customer_view SET ssn = 's'

UPDATE customer SET missing = 's', ssn = 't'

DELETE FROM customer WHERE ssn = 's' RETURNING *

DELETE FROM customer USING person p WHERE p.ssn = customer.ssn AND p."Mixed" = 'm'

DELETE FROM item USING customer WHERE item.ssn = customer.ssn

DELETE FROM customer WHERE ssn > 's'

MERGE INTO customer c USING person p ON c.ssn = p.ssn WHEN MATCHED THEN UPDATE SET ssn = p.ssn, email = 'e' WHEN NOT MATCHED THEN INSERT (id, ssn) VALUES (p.id, p.ssn)

MERGE INTO customer c USING orders o ON c.id = o.customer_id WHEN MATCHED AND c.ssn = 's' THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (1, 'n', 'e', 's')

MERGE INTO customer c USING orders o ON c.id = o.customer_id WHEN MATCHED THEN UPDATE SET ssn = o.note

MERGE INTO orders o USING customer c ON c.id = o.customer_id WHEN MATCHED THEN UPDATE SET note = c.ssn

MERGE INTO log USING orders o ON o.id = 1 WHEN MATCHED THEN DO NOTHING

UPDATE vault SET token = $1 WHERE token = $1

UPDATE vault SET token = other, raw = 'x' WHERE other = 'y'

INSERT INTO vault (token) VALUES ('x') ON CONFLICT (token) DO NOTHING

INSERT INTO vault VALUES (1, 'x', 'y', '\x01')

MERGE INTO vault v USING vault w ON v.token = w.other WHEN MATCHED THEN UPDATE SET token = 'x'

INSERT INTO contact (mail) VALUES ('x')

UPDATE contact SET mail = 'x'

INSERT INTO "two words" ("desc") VALUES ('007'::int), (7), ('7'), ('x'::text), ('2020-01-02'::date)

INSERT INTO log (x) SELECT mail FROM contact

UPDATE log SET x = c.ssn, message = (SELECT email FROM customer) FROM customer c
