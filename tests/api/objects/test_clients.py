"""What other clients do: aws cli (sync, multipart), s3cmd, the AWS SDK for JavaScript. OBJECTS_LARGE=1024 makes the large file 1 GB."""
import filecmp
import os
import subprocess

from support import Store

LARGE = int(os.environ.get('OBJECTS_LARGE', '64')) << 20
HERE = os.path.dirname(os.path.abspath(__file__))


class Clients(Store):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files_root = os.path.join(cls.root, 'files')
        os.mkdir(cls.files_root)

    def run_command(self, *command, fails=False, **environment):
        environment = {**os.environ, 'AWS_ACCESS_KEY_ID': self.key, 'AWS_SECRET_ACCESS_KEY': self.secret, 'AWS_DEFAULT_REGION': 'us-east-1',
                       'AWS_CONFIG_FILE': '/dev/null', 'AWS_SHARED_CREDENTIALS_FILE': '/dev/null', **environment}
        done = subprocess.run(command, capture_output=True, env=environment, cwd=self.files_root, timeout=600)
        self.assertEqual(done.returncode != 0, fails, f'{command}: {done.stdout.decode()[-2000:]} {done.stderr.decode()[-3000:]}')
        return done.stdout.decode()

    def aws(self, *arguments, **more):
        return self.run_command('/usr/bin/aws', '--endpoint-url', self.server.endpoint, *arguments, **more)

    def large(self):
        path = os.path.join(self.files_root, 'large')
        if not os.path.exists(path):
            with open(path, 'wb') as file:
                for _ in range(LARGE >> 20):
                    file.write(os.urandom(1 << 20))
        return path

    def same_trees(self, one, other):
        names = sorted(os.path.relpath(os.path.join(d, f), one) for d, _, fs in os.walk(one) for f in fs)
        self.assertEqual(filecmp.cmpfiles(one, other, names, shallow=False)[0], names)
        return len(names)

    def test_aws_sync(self):
        source, back = os.path.join(self.files_root, 'many'), os.path.join(self.files_root, 'back')
        for i in range(1000):
            path = os.path.join(source, f'd{i % 10}', f'file {i}.txt')
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(os.urandom(i * 7 % 5000))
        self.aws('s3', 'mb', 's3://synced')
        self.aws('s3', 'sync', source, 's3://synced/tree', '--only-show-errors')
        self.aws('s3', 'sync', 's3://synced/tree', back, '--only-show-errors')
        self.assertEqual(self.same_trees(source, back), 1000)
        os.remove(os.path.join(source, 'd0', 'file 0.txt'))
        told = self.aws('s3', 'sync', source, 's3://synced/tree', '--delete', '--no-progress')
        self.assertEqual([line for line in told.splitlines() if line], ['delete: s3://synced/tree/d0/file 0.txt'])
        self.assertEqual(len(self.aws('s3', 'ls', '--recursive', 's3://synced').splitlines()), 999)
        self.aws('s3', 'rm', '--recursive', '--only-show-errors', 's3://synced')
        self.aws('s3', 'rb', 's3://synced')

    def test_aws_large(self):
        path = self.large()
        self.aws('s3', 'mb', 's3://large')
        self.aws('s3', 'cp', '--only-show-errors', path, 's3://large/file')
        self.assertIn('-', self.s3.head_object(Bucket='large', Key='file')['ETag'])
        self.aws('s3', 'cp', '--only-show-errors', 's3://large/file', path + '.back')
        self.assertTrue(filecmp.cmp(path, path + '.back', shallow=False))
        self.aws('s3', 'cp', '--only-show-errors', 's3://large/file', 's3://large/copy')
        self.aws('s3', 'mv', '--only-show-errors', 's3://large/copy', 's3://large/moved')
        self.assertEqual(self.s3.head_object(Bucket='large', Key='moved')['ContentLength'], LARGE)
        url = self.aws('s3', 'presign', 's3://large/moved').strip()
        self.run_command('curl', '-sf', '-o', path + '.back', url)
        self.assertTrue(filecmp.cmp(path, path + '.back', shallow=False))
        told = self.aws('s3api', 'put-object', '--bucket', 'large', '--key', 'sum', '--body', __file__, '--checksum-algorithm', 'CRC32')
        self.assertIn('ChecksumCRC32', told)
        self.aws('s3', 'rb', '--force', 's3://large')

    def test_s3cmd(self):
        config = os.path.join(self.files_root, 's3cfg')
        host = self.server.endpoint[7:]
        with open(config, 'w') as file:
            file.write(f'[default]\naccess_key = {self.key}\nsecret_key = {self.secret}\nhost_base = {host}\nhost_bucket = {host}\nuse_https = False\n')

        def s3cmd(*arguments, **more):
            return self.run_command('/usr/bin/s3cmd', '--no-progress', '-c', config, *arguments, **more)
        tree = os.path.join(self.files_root, 'tree')
        for name in ('a.txt', 'sub/b c.txt', 'sub/ü.txt'):
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            with open(os.path.join(tree, name), 'w') as file:
                file.write(name)
        s3cmd('mb', 's3://cmd')
        s3cmd('put', '--recursive', tree + '/', 's3://cmd/tree/')
        s3cmd('put', '--multipart-chunk-size-mb=15', self.large(), 's3://cmd/large')
        self.assertEqual(len(s3cmd('ls', '--recursive', 's3://cmd').splitlines()), 4)
        self.assertIn('DIR', s3cmd('ls', 's3://cmd'))
        s3cmd('get', '--force', 's3://cmd/large', os.path.join(self.files_root, 'large.cmd'))
        self.assertTrue(filecmp.cmp(self.large(), os.path.join(self.files_root, 'large.cmd'), shallow=False))
        back = os.path.join(self.files_root, 'tree.back')
        s3cmd('sync', 's3://cmd/tree/', back + '/')
        self.assertEqual(self.same_trees(tree, back), 3)
        s3cmd('cp', 's3://cmd/tree/a.txt', 's3://cmd/copy')
        s3cmd('mv', 's3://cmd/copy', 's3://cmd/moved')
        s3cmd('modify', '--add-header=x-amz-meta-a:b', 's3://cmd/moved')
        self.assertIn('x-amz-meta-a', s3cmd('info', 's3://cmd/moved'))
        s3cmd('rb', 's3://cmd', fails=True)
        s3cmd('del', '--recursive', '--force', 's3://cmd')
        s3cmd('rb', 's3://cmd')

    def test_javascript(self):
        told = self.run_command('node', os.path.join(HERE, 'sdk.mjs'), ENDPOINT=self.server.endpoint, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED='true')
        self.assertIn('all is well', told)
