package dev.fieldveil.clients;

import static dev.fieldveil.clients.Steps.expect;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/**
 * MariaDB's and MySQL's drivers of JDBC: {@code mariadb|mysql} with {@code text} (they write the values into the text) or
 * {@code prepared} (prepared by the server, and binary).
 */
final class Mysqljdbc {
    // MySQL has no type for an instant.
    private static final String COLUMNS = "id, name, ssn, ref, email, born, balance, visits, score, active, made, extra, photo";
    private static final String INSERT =
            "INSERT INTO person (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    private static final String REFUSED = "42000";

    private final String driver;
    private final boolean prepares;

    private Mysqljdbc(String driver, boolean prepares) {
        this.driver = driver;
        this.prepares = prepares;
    }

    public static void main(String[] words) throws Exception {
        String[] way = words[0].split("-");
        new Mysqljdbc(way[0], way[1].equals("prepared")).run();
    }

    private void run() throws Exception {
        new Steps<Connection>("mysqljdbc-" + driver + (prepares ? "-prepared" : "-text"))
                .step("connect", Mysqljdbc::currentUser)
                .step("write", connection -> insert(connection, Row.numbered(10)))
                .step("read", connection -> read(connection, Row.FIRST))
                .step("search", Mysqljdbc::search)
                .step("update", Mysqljdbc::update)
                .step("upsert", Mysqljdbc::upsert)
                .step("batch", Mysqljdbc::batch)
                .step("prepared", this::prepared)
                .step("binary", this::binary)
                .step("transaction", Mysqljdbc::transaction)
                .step("null", Mysqljdbc::nulls)
                .step("refusal", Mysqljdbc::refusal)
                .step("copy_in", connection -> none("MySQL has no COPY"))
                .step("copy_out", connection -> none("MySQL has no COPY"))
                .run(this::open);
    }

    private Connection open() throws Exception {
        String url = "jdbc:" + driver + "://" + System.getenv("MYSQL_HOST") + ":" + System.getenv("MYSQL_PORT") + "/"
                + System.getenv("MYSQL_DATABASE") + "?useServerPrepStmts=" + prepares
                + tls(System.getenv("MYSQL_CA"));
        return DriverManager.getConnection(url, System.getenv("MYSQL_USER"), System.getenv("MYSQL_PASSWORD"));
    }

    /** Verified by this authority, whose file MySQL's driver wants as a key store; without one, no TLS. */
    private String tls(String authority) throws Exception {
        if (authority == null) {
            return driver.equals("mysql") ? "&sslMode=DISABLED&allowPublicKeyRetrieval=true" : "&sslMode=disable";
        }
        if (!driver.equals("mysql")) {
            return "&sslMode=verify-full&serverSslCert=" + authority;
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream file = Files.newInputStream(Path.of(authority))) {
            store.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        Path made = Files.createTempFile("authority", ".p12");
        made.toFile().deleteOnExit();
        try (OutputStream file = Files.newOutputStream(made)) {
            store.store(file, "changeit".toCharArray());
        }
        return "&sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreType=PKCS12&trustCertificateKeyStorePassword=changeit"
                + "&trustCertificateKeyStoreUrl=" + made.toUri();
    }

    private static void none(String why) throws Exception {
        throw new Steps.Absent(why);
    }

    private static void currentUser(Connection connection) throws Exception {
        String user = (String) one(connection, "SELECT CURRENT_USER()");
        expect("current_user", user.split("@")[0], Steps.USER);
    }

    private static void insert(Connection connection, Row row) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setLong(1, row.id());
            statement.setString(2, row.name());
            statement.setString(3, row.ssn());
            statement.setString(4, row.ref().toString());
            statement.setString(5, row.email());
            statement.setObject(6, row.born());
            statement.setBigDecimal(7, row.balance());
            statement.setInt(8, row.visits());
            statement.setDouble(9, row.score());
            statement.setBoolean(10, row.active());
            // As text: MySQL's driver asks the server how many digits of a second a parameter has, and MariaDB says none.
            statement.setString(11, row.made().toString().replace('T', ' '));
            statement.setString(12, row.extra());
            statement.setBytes(13, row.photoBytes());
            statement.executeUpdate();
        }
    }

    private static void read(Connection connection, Row wanted) throws Exception {
        String text = "SELECT " + COLUMNS + " FROM person WHERE id = ?";
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setLong(1, wanted.id());
            for (int time = 0; time < 3; time++) {
                try (ResultSet rows = statement.executeQuery()) {
                    expect("rows", rows.next(), true);
                    expect("row, time " + time, new Row(rows.getLong(1), rows.getString(2), rows.getString(3),
                            UUID.fromString(rows.getString(4)), rows.getString(5), rows.getObject(6, LocalDate.class),
                            rows.getBigDecimal(7), rows.getInt(8), rows.getDouble(9), rows.getBoolean(10),
                            wanted.seen(), rows.getObject(11, LocalDateTime.class), spaced(rows.getString(12)),
                            HexFormat.of().formatHex(rows.getBytes(13))), wanted);
                }
            }
        }
    }

    /** MySQL writes JSON anew, and so does whoever shows a declared one; MariaDB keeps a text. */
    private static String spaced(String json) {
        return json.replaceAll("\\s", "").replace(":", ": ").replace(",", ", ");
    }

    private static void search(Connection connection) throws Exception {
        expect("found by ssn", ids(connection, "SELECT id FROM person WHERE ssn = ?", Row.SSN), List.of(1L));
        String ref = Row.FIRST.ref().toString();
        expect("found by ref", ids(connection, "SELECT id FROM person WHERE ref = ?", ref), List.of(1L));
        expect("found by another", ids(connection, "SELECT id FROM person WHERE ssn = ?", "no"), List.of());
    }

    private static List<Long> ids(Connection connection, String text, String value) throws SQLException {
        List<Long> found = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            statement.setString(1, value);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.add(rows.getLong(1));
                }
            }
        }
        return found;
    }

    private static void update(Connection connection) throws Exception {
        change(connection, Steps.SHORT, 2L, Steps.ssn(2));
        change(connection, "UPDATE person SET email = ?, balance = ? WHERE ssn = ?", Row.NEW_EMAIL, Row.NEW_BALANCE,
                Steps.ssn(2));
        expect("email", one(connection, "SELECT email FROM person WHERE id = 2"), Row.NEW_EMAIL);
        expect("balance", one(connection, "SELECT balance FROM person WHERE id = 2"), Row.NEW_BALANCE);
    }

    private static void upsert(Connection connection) throws Exception {
        String text = "INSERT INTO person (id, ssn, email) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE email = VALUES(email)";
        for (String email : List.of("one@example.com", Row.LAST_EMAIL)) {
            change(connection, text, 3L, Steps.ssn(3), email);
        }
        expect("email", one(connection, "SELECT email FROM person WHERE id = 3"), Row.LAST_EMAIL);
    }

    private static void batch(Connection connection) throws Exception {
        try (PreparedStatement statement = connection.prepareStatement(Steps.SHORT)) {
            for (long id = Steps.FIRST_OF_BATCH; id <= Steps.LAST_OF_BATCH; id++) {
                statement.setLong(1, id);
                statement.setString(2, Steps.ssn(id));
                statement.addBatch();
            }
            statement.executeBatch();
        }
        for (long id = Steps.FIRST_OF_BATCH; id <= Steps.LAST_OF_BATCH; id++) {
            expectSsn(connection, id, Steps.ssn(id));
        }
    }

    private void prepared(Connection connection) throws Exception {
        if (!prepares) {
            none("the values are in the text, so there is nothing to prepare");
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
        }
    }

    private void binary(Connection connection) throws Exception {
        if (!prepares) {
            none("the binary protocol is that of prepared statements");
        }
        insert(connection, Row.numbered(300));
        read(connection, Row.numbered(300));
    }

    private static void transaction(Connection connection) throws Exception {
        connection.setAutoCommit(false);
        change(connection, Steps.SHORT, 400L, Steps.ssn(400));
        expectSsn(connection, 400, Steps.ssn(400));
        connection.rollback();
        expectSsn(connection, 400, null);
        change(connection, Steps.SHORT, 401L, Steps.ssn(401));
        connection.commit();
        connection.setAutoCommit(true);
        expectSsn(connection, 401, Steps.ssn(401));
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
            expect("refused", false, true);
        } catch (SQLException refusal) {
            expect("SQLSTATE", refusal.getSQLState(), REFUSED);
        }
        expectSsn(connection, 1, Row.SSN);
    }

    private static void change(Connection connection, String text, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            for (int number = 0; number < values.length; number++) {
                statement.setObject(number + 1, values[number]);
            }
            statement.executeUpdate();
        }
    }

    private static void expectSsn(Connection connection, long id, String wanted) throws Exception {
        expect("ssn", one(connection, "SELECT ssn FROM person WHERE id = " + id), wanted);
    }

    /** The first column of the first row; null for no row, too. */
    private static Object one(Connection connection, String text) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text); ResultSet rows = statement.executeQuery()) {
            return rows.next() ? rows.getObject(1) : null;
        }
    }
}
