package dev.fieldveil.clients;

import static dev.fieldveil.clients.Steps.expect;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HexFormat;
import java.util.List;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;

/** Hibernate over pgjdbc: {@code default}, or {@code direct} (java.time's types handed to pgjdbc as they are). */
final class Hibernate {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] words) throws Exception {
        try (SessionFactory factory = factory(words[0].equals("direct"))) {
            new Steps<Session>("hibernate-" + words[0])
                    .step("connect", Hibernate::currentUser)
                    .step("write", session -> persist(session, filled(Row.numbered(10))))
                    .step("read", session -> read(session, Row.FIRST))
                    .step("search", Hibernate::search)
                    .step("update", Hibernate::update)
                    .step("upsert", Hibernate::upsert)
                    .step("batch", Hibernate::batch)
                    .step("prepared", Hibernate::prepared)
                    .step("binary", session -> {
                        throw new Steps.Absent("Hibernate has no switch for pgjdbc's binary transfer");
                    })
                    .step("transaction", Hibernate::transaction)
                    .step("null", Hibernate::nulls)
                    .step("refusal", Hibernate::refusal)
                    .step("copy_in", Hibernate::noCopy)
                    .step("copy_out", Hibernate::noCopy)
                    .run(factory::openSession);
        }
    }

    private static SessionFactory factory(boolean direct) {
        return new Configuration()
                .addAnnotatedClass(Person.class)
                .setProperty("hibernate.connection.url", Pgjdbc.url() + "?" + Pgjdbc.tls())
                .setProperty("hibernate.connection.username", System.getenv("PGUSER"))
                .setProperty("hibernate.connection.password", System.getenv("PGPASSWORD"))
                .setProperty("hibernate.connection.pool_size", "1")
                .setProperty("hibernate.jdbc.batch_size", "20")
                .setProperty("hibernate.type.java_time_use_direct_jdbc", Boolean.toString(direct))
                .buildSessionFactory();
    }

    private static Person filled(Row row) throws Exception {
        Person person = new Person(row.id());
        person.name = row.name();
        person.ref = row.ref();
        person.email = row.email();
        person.born = row.born();
        person.balance = row.balance();
        person.visits = row.visits();
        person.score = row.score();
        person.active = row.active();
        person.seen = row.seen();
        person.made = row.made();
        person.extra = JSON.readTree(row.extra());
        person.photo = row.photoBytes();
        return person;
    }

    private static void persist(Session session, Person... people) {
        session.inTransaction(transaction -> List.of(people).forEach(session::persist));
        session.clear();
    }

    private static Person find(Session session, long id) {
        session.clear();
        return session.find(Person.class, id);
    }

    private static void currentUser(Session session) throws Exception {
        expect("current_user", session.createNativeQuery("SELECT current_user", String.class).getSingleResult(), Steps.USER);
    }

    private static void read(Session session, Row wanted) throws Exception {
        Person person = find(session, wanted.id());
        expect("extra", person.extra, JSON.readTree(wanted.extra()));
        expect("row", new Row(person.id, person.name, person.ssn, person.ref, person.email, person.born, person.balance,
                person.visits, person.score, person.active, person.seen, person.made, wanted.extra(),
                HexFormat.of().formatHex(person.photo)), wanted);
    }

    private static List<Long> ids(Session session, String where, Object value) {
        return session.createQuery("select id from Person where " + where + " = :value", Long.class)
                .setParameter("value", value).getResultList();
    }

    private static void search(Session session) throws Exception {
        expect("found by ssn", ids(session, "ssn", Row.SSN), List.of(1L));
        expect("found by ref", ids(session, "ref", Row.FIRST.ref()), List.of(1L));
        expect("found by another", ids(session, "ssn", "no"), List.of());
    }

    private static void update(Session session) throws Exception {
        persist(session, new Person(2));
        String text = "update Person set email = :email, balance = :balance where ssn = :ssn";
        session.inTransaction(transaction -> session.createMutationQuery(text).setParameter("email", Row.NEW_EMAIL)
                .setParameter("balance", Row.NEW_BALANCE).setParameter("ssn", Steps.ssn(2)).executeUpdate());
        Person person = find(session, 2);
        expect("read again", List.of(person.email, person.balance), List.of(Row.NEW_EMAIL, Row.NEW_BALANCE));
    }

    private static void upsert(Session session) throws Exception {
        String text = "insert into Person (id, ssn, email) values (3L, :ssn, :email) "
                + "on conflict (id) do update set email = excluded.email";
        for (String email : List.of("one@example.com", Row.LAST_EMAIL)) {
            session.inTransaction(transaction -> session.createMutationQuery(text).setParameter("ssn", Steps.ssn(3))
                    .setParameter("email", email).executeUpdate());
        }
        expect("email", find(session, 3).email, Row.LAST_EMAIL);
    }

    /** One JDBC batch of twenty. */
    private static void batch(Session session) throws Exception {
        Person[] people = new Person[Steps.LAST_OF_BATCH - Steps.FIRST_OF_BATCH + 1];
        for (int number = 0; number < people.length; number++) {
            people[number] = new Person(Steps.FIRST_OF_BATCH + number);
        }
        persist(session, people);
        List<Person> got = session.createQuery("from Person where id between 100 and 119 order by id", Person.class).getResultList();
        expect("number of rows", got.size(), people.length);
        for (Person person : got) {
            expect("ssn", person.ssn, Steps.ssn(person.id));
        }
    }

    private static void prepared(Session session) throws Exception {
        for (long id = Steps.FIRST_OF_PREPARED; id <= Steps.LAST_OF_PREPARED; id++) {
            persist(session, new Person(id));
        }
        for (long id = Steps.FIRST_OF_PREPARED; id <= Steps.LAST_OF_PREPARED; id++) {
            expect("ssn", find(session, id).ssn, Steps.ssn(id));
        }
    }

    private static void transaction(Session session) throws Exception {
        session.beginTransaction();
        session.persist(new Person(400));
        session.flush();
        expect("before the rollback", find(session, 400).ssn, Steps.ssn(400));
        session.getTransaction().rollback();
        expect("after the rollback", find(session, 400), null);
        persist(session, new Person(401));
        expect("after the commit", find(session, 401).ssn, Steps.ssn(401));
    }

    private static void nulls(Session session) throws Exception {
        Person person = new Person(500);
        person.ssn = null;
        person.email = "";
        persist(session, person);
        Person got = find(session, 500);
        expect("ssn", got.ssn, null);
        expect("email", got.email, "");
        expect("born", got.born, null);
    }

    private static void refusal(Session session) throws Exception {
        try {
            session.createQuery("select id from Person order by ssn", Long.class).getResultList();
            throw new Steps.Wrong("it was not refused");
        } catch (RuntimeException error) {
            expect("SQLSTATE", Steps.sqlState(error), Steps.REFUSED);
        }
        expect("after it", find(session, 1).ssn, Row.SSN);
    }

    private static void noCopy(Session session) throws Steps.Absent {
        throw new Steps.Absent("Hibernate has no COPY of its own");
    }
}
