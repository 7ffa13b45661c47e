package dev.fieldveil.clients;

import static dev.fieldveil.clients.Steps.expect;

import java.io.StringReader;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PGobject;

/**
 * pgjdbc: {@code default}, {@code prepared} (by name from the first time on), {@code binary} (that, and binary from
 * the first time on) or {@code simple} (protocol).
 */
final class Pgjdbc {
    private static final String COLUMNS =
            "id, name, ssn, ref, email, born, balance, visits, score, active, seen, made, extra, photo";
    private static final String INSERT =
            "INSERT INTO person (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

    private final String way;

    private Pgjdbc(String way) {
        this.way = way;
    }

    public static void main(String[] words) throws Exception {
        new Pgjdbc(words[0]).run();
    }

    private void run() throws Exception {
        String options = switch (way) {
            case "prepared" -> "?prepareThreshold=1";
            case "binary" -> "?prepareThreshold=-1";
            case "simple" -> "?preferQueryMode=simple";
            default -> "?";
        };
        new Steps<Connection>("pgjdbc-" + way)
                .step("connect", Pgjdbc::currentUser)
                .step("write", connection -> insert(connection, Row.numbered(10)))
                .step("read", connection -> read(connection, Row.FIRST))
                .step("search", Pgjdbc::search)
                .step("update", Pgjdbc::update)
                .step("upsert", Pgjdbc::upsert)
                .step("batch", Pgjdbc::batch)
                .step("prepared", this::prepared)
                .step("binary", this::binary)
                .step("transaction", Pgjdbc::transaction)
                .step("null", Pgjdbc::nulls)
                .step("refusal", Pgjdbc::refusal)
                .step("copy_in", Pgjdbc::copyIn)
                .step("copy_out", Pgjdbc::copyOut)
                .run(() -> open(options));
    }

    static Connection open(String options) throws SQLException {
        return DriverManager.getConnection(url() + options + "&" + tls(), System.getenv("PGUSER"),
                System.getenv("PGPASSWORD"));
    }

    static String tls() {
        String mode = "sslmode=" + System.getenv("PGSSLMODE");
        String authority = System.getenv("PGSSLROOTCERT");
        return authority == null ? mode : mode + "&sslrootcert=" + authority;
    }

    static String url() {
        return "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/"
                + System.getenv("PGDATABASE");
    }

    private static void currentUser(Connection connection) throws Exception {
        expect("current_user", one(connection, "SELECT current_user"), Steps.USER);
    }

    private static void insert(Connection connection, Row row) throws SQLException {
        PGobject extra = new PGobject();
        extra.setType("json");
        extra.setValue(row.extra());
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setLong(1, row.id());
            statement.setString(2, row.name());
            statement.setString(3, row.ssn());
            statement.setObject(4, row.ref());
            statement.setString(5, row.email());
            statement.setObject(6, row.born());
            statement.setBigDecimal(7, row.balance());
            statement.setInt(8, row.visits());
            statement.setDouble(9, row.score());
            statement.setBoolean(10, row.active());
            statement.setObject(11, row.seen().atOffset(ZoneOffset.UTC));
            statement.setObject(12, row.made());
            statement.setObject(13, extra);
            statement.setBytes(14, row.photoBytes());
            statement.executeUpdate();
        }
    }

    private static void read(Connection connection, Row wanted) throws Exception {
        String text = "SELECT " + COLUMNS + " FROM person WHERE id = ?";
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setLong(1, wanted.id());
            // More often than pgjdbc's threshold: the last ones are prepared by name, and come in binary.
            for (int time = 0; time < 7; time++) {
                try (ResultSet rows = statement.executeQuery()) {
                    expect("rows", rows.next(), true);
                    expect("row, time " + time, new Row(rows.getLong(1), rows.getString(2), rows.getString(3),
                            rows.getObject(4, UUID.class), rows.getString(5), rows.getObject(6, LocalDate.class),
                            rows.getBigDecimal(7), rows.getInt(8), rows.getDouble(9), rows.getBoolean(10),
                            rows.getObject(11, OffsetDateTime.class).toInstant(),
                            rows.getObject(12, LocalDateTime.class), rows.getString(13),
                            HexFormat.of().formatHex(rows.getBytes(14))), wanted);
                }
            }
        }
    }

    /** The first column of the first row; null when there is none. */
    private static Object one(Connection connection, String text, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            for (int number = 0; number < values.length; number++) {
                statement.setObject(number + 1, values[number]);
            }
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? rows.getObject(1) : null;
            }
        }
    }

    private static void search(Connection connection) throws Exception {
        expect("found by ssn", one(connection, "SELECT id FROM person WHERE ssn = ?", Row.SSN), 1L);
        expect("found by ref", one(connection, "SELECT id FROM person WHERE ref = ?", Row.FIRST.ref()), 1L);
        expect("found by another", one(connection, "SELECT id FROM person WHERE ssn = ?", "no"), null);
    }

    private static void put(Connection connection, long id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(Steps.SHORT)) {
            statement.setLong(1, id);
            statement.setString(2, Steps.ssn(id));
            statement.executeUpdate();
        }
    }

    private static void update(Connection connection) throws Exception {
        put(connection, 2);
        String text = "UPDATE person SET email = ?, balance = ? WHERE ssn = ? RETURNING id, email, balance";
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setString(1, Row.NEW_EMAIL);
            statement.setBigDecimal(2, Row.NEW_BALANCE);
            statement.setString(3, Steps.ssn(2));
            try (ResultSet rows = statement.executeQuery()) {
                expect("rows", rows.next(), true);
                expect("returned", List.of(rows.getLong(1), rows.getString(2), rows.getBigDecimal(3)),
                        List.of(2L, Row.NEW_EMAIL, Row.NEW_BALANCE));
            }
        }
    }

    private static void upsert(Connection connection) throws Exception {
        String text = "INSERT INTO person (id, ssn, email) VALUES (?, ?, ?) "
                + "ON CONFLICT (id) DO UPDATE SET email = EXCLUDED.email RETURNING email";
        for (String email : List.of("one@example.com", Row.LAST_EMAIL)) {
            expect("returned", one(connection, text, 3L, Steps.ssn(3), email), email);
        }
        expect("email", one(connection, "SELECT email FROM person WHERE id = 3"), Row.LAST_EMAIL);
    }

    /** Many Bind and Execute before one Sync. */
    private static void batch(Connection connection) throws Exception {
        try (PreparedStatement statement = connection.prepareStatement(Steps.SHORT)) {
            for (long id = Steps.FIRST_OF_BATCH; id <= Steps.LAST_OF_BATCH; id++) {
                statement.setLong(1, id);
                statement.setString(2, Steps.ssn(id));
                statement.addBatch();
            }
            expect("rows", statement.executeBatch().length, 20);
        }
        for (long id = Steps.FIRST_OF_BATCH; id <= Steps.LAST_OF_BATCH; id++) {
            expect("ssn", one(connection, Steps.SSN_OF, id), Steps.ssn(id));
        }
    }

    private void prepared(Connection connection) throws Exception {
        if (way.equals("simple")) {
            throw new Steps.Absent("the values are in the text, so there is nothing to prepare");
        }
        try (PreparedStatement put = connection.prepareStatement(Steps.SHORT);
                PreparedStatement get = connection.prepareStatement(Steps.SSN_OF)) {
            for (long id = Steps.FIRST_OF_PREPARED; id <= Steps.LAST_OF_PREPARED; id++) {
                put.setLong(1, id);
                put.setString(2, Steps.ssn(id));
                put.executeUpdate();
            }
            for (long id = Steps.FIRST_OF_PREPARED; id <= Steps.LAST_OF_PREPARED; id++) {
                get.setLong(1, id);
                try (ResultSet rows = get.executeQuery()) {
                    expect("rows", rows.next(), true);
                    expect("ssn", rows.getString(1), Steps.ssn(id));
                }
            }
            expect("prepared by name", put.unwrap(PGStatement.class).isUseServerPrepare(), true);
        }
    }

    private void binary(Connection connection) throws Exception {
        if (way.equals("simple")) {
            throw new Steps.Absent("the simple protocol has text alone");
        }
        insert(connection, Row.numbered(300));
        read(connection, Row.numbered(300));
    }

    private static void transaction(Connection connection) throws Exception {
        connection.setAutoCommit(false);
        put(connection, 400);
        expect("before the rollback", one(connection, Steps.SSN_OF, 400L), Steps.ssn(400));
        connection.rollback();
        expect("after the rollback", one(connection, Steps.SSN_OF, 400L), null);
        put(connection, 401);
        connection.commit();
        connection.setAutoCommit(true);
        expect("after the commit", one(connection, Steps.SSN_OF, 401L), Steps.ssn(401));
    }

    private static void nulls(Connection connection) throws Exception {
        String text = "INSERT INTO person (id, ssn, email, born) VALUES (500, ?, ?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setNull(1, Types.VARCHAR);
            statement.setString(2, "");
            statement.setNull(3, Types.DATE);
            statement.executeUpdate();
        }
        expect("ssn", one(connection, "SELECT ssn FROM person WHERE id = 500"), null);
        expect("email", one(connection, "SELECT email FROM person WHERE id = 500"), "");
        expect("born", one(connection, "SELECT born FROM person WHERE id = 500"), null);
    }

    private static void refusal(Connection connection) throws Exception {
        try {
            one(connection, "SELECT id FROM person ORDER BY ssn");
            throw new Steps.Wrong("it was not refused");
        } catch (SQLException error) {
            expect("SQLSTATE", error.getSQLState(), Steps.REFUSED);
        }
        expect("after it", one(connection, Steps.SSN_OF, 1L), Row.SSN);
    }

    private static void copyIn(Connection connection) throws Exception {
        StringBuilder lines = new StringBuilder();
        Row.Copied.ALL.forEach(row -> lines.append(row.line()));
        copies(connection).copyIn("COPY person (id, name, email, ssn, born) FROM STDIN", new StringReader(lines.toString()));
        String text = "SELECT id, name, email, ssn, born FROM person WHERE id BETWEEN 600 AND 602 ORDER BY id";
        List<Row.Copied> got = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(text); ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                got.add(new Row.Copied(rows.getLong(1), rows.getString(2), rows.getString(3), rows.getString(4),
                        rows.getObject(5, LocalDate.class)));
            }
        }
        expect("copied", got, Row.Copied.ALL);
    }

    private static void copyOut(Connection connection) throws Exception {
        StringWriter out = new StringWriter();
        copies(connection).copyOut("COPY person (id, ssn, born) TO STDOUT", out);
        expect("copied", out.toString().lines().filter(line -> line.startsWith("1\t")).toList(),
                List.of("1\t" + Row.SSN + "\t1980-05-17"));
    }

    private static CopyManager copies(Connection connection) throws SQLException {
        return connection.unwrap(PGConnection.class).getCopyAPI();
    }
}
